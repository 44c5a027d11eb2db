"""Servers that are started, watched and ended by their process IDs."""

import ctypes
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

_TICKS = os.sysconf("SC_CLK_TCK")
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class BenchError(Exception):
    """Something that makes figures worthless, or impossible."""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _prepare_child(cores: set[int]) -> Callable[[], None]:
    def prepare() -> None:
        # Nothing that was started outlives the run, not even when the run is killed.
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.sched_setaffinity(0, cores)
    return prepare


class Server:
    """A process with all that it starts."""

    def __init__(
        self, name: str, command: list[str], log: Path, *, cores: set[int],
        environment: dict[str, str] | None = None, user: str | None = None,
    ) -> None:
        self.name = name
        self.log = log
        self._command = command
        self._cores = cores
        self._environment = (environment or {}) | {"PATH": os.environ["PATH"]}
        self._user = user
        self._readiness: list[Callable[[], bool]] = []
        self._process = self._start("wb")

    def _start(self, mode: Literal["wb", "ab"]) -> subprocess.Popen[bytes]:
        # A session of its own: Ctrl-C in the terminal reaches this program only, which then ends the others in order.
        with self.log.open(mode) as output:
            return subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                env=self._environment, user=self._user, group=self._user,
                extra_groups=None if self._user is None else [], preexec_fn=_prepare_child(self._cores))

    def restart(self) -> None:
        """Ends the process and starts the same command again, until it is ready in every way that it was waited for."""
        self.end()
        self._process = self._start("ab")
        for is_ready in self._readiness.copy():
            self._wait(is_ready, 30)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process.poll() is None:
            self._process.send_signal(how)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def wait_until(self, is_ready: Callable[[], bool], seconds: float = 30) -> None:
        self._wait(is_ready, seconds)
        self._readiness.append(is_ready)

    def _wait(self, is_ready: Callable[[], bool], seconds: float) -> None:
        end = time.monotonic() + seconds

        def answers() -> bool:
            try:
                return is_ready()
            except ConnectionError:  # The service resets connections while it only tries the address.
                return False

        while not answers():
            if self._process.poll() is not None or time.monotonic() > end:
                said = self.log.read_text(errors="replace")[-2000:]
                raise BenchError(f"{self.name} did not start:\n{said}")
            time.sleep(0.05)

    def cpu_seconds(self) -> float:
        """User and system time of all its processes, also of those that have ended."""
        return sum(sum(fields[11:15]) for fields in self._tree()) / _TICKS

    def resident_megabytes(self, peak: bool = False) -> float:
        field = "VmHWM:" if peak else "VmRSS:"
        for line in Path(f"/proc/{self._process.pid}/status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
        raise BenchError(f"{self.name} has ended")

    def _tree(self) -> list[list[int]]:
        """The fields of the process and of those below it."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    found[int(entry.name)] = _fields(entry)
                except (FileNotFoundError, ProcessLookupError):
                    continue
        tree = [self._process.pid]
        for pid in tree:
            tree += [child for child, fields in found.items() if fields[1] == pid]
        return [found[pid] for pid in tree if pid in found]


def _fields(process: Path) -> list[int]:
    """The numbers of /proc/PID/stat from the third field on; that one, the state, is a letter and reads as 0."""
    fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
    return [0] + [int(field) for field in fields[1:20]]
