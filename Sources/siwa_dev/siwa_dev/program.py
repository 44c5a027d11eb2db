"""The program ``siwa-dev``: where it is, how it starts, and how it ends."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, List, NoReturn, Optional, Type

from .control import EmulatorError

_BUNDLED = Path(__file__).parent / "bin" / "siwa-dev"

# Runs the program, and ends it at a line on standard input, or when standard input closes: the kernel closes the pipe
# however the parent ends. The line is for a parent with forked children, which hold the pipe open. Then it removes the
# folder, which has keys. A shell is the program's parent, because the system cannot use the program's number again
# until the shell has waited. The program has no state to save, so it needs no time to end.
_SUPERVISOR = """
folder=$1; shift
exec 3<&0 </dev/null
"$@" 3<&- &
program=$!
{ read -r _ <&3; kill -KILL "$program"; } 2>/dev/null &
watch=$!
wait "$program" 2>/dev/null; status=$?
kill -KILL "$watch" 2>/dev/null
rm -rf "$folder"
exit "$status"
"""


def path() -> str:
    """Returns the program that ``SIWA_DEV`` in the environment names, or else the program of the wheel.

    Raises `EmulatorError` ``program_missing``.
    """
    given = os.environ.get("SIWA_DEV")
    program = Path(given) if given else _BUNDLED
    if not os.access(program, os.X_OK) or program.is_dir():
        raise EmulatorError("program_missing", f"{program} is not a program")
    return str(program.resolve())


def main() -> NoReturn:
    """The console script ``siwa-dev``: becomes the program, with the same arguments."""
    try:
        program = path()
    except EmulatorError as error:
        sys.exit(f"error: {error}")
    os.execv(program, ["siwa-dev", *sys.argv[1:]])


class RunningProgram:
    """One ``siwa-dev emulate`` on 127.0.0.1, in a temporary folder of its own.

    It ends with `stop`, and also if this process ends in any other way.
    """

    def __init__(self) -> None:
        """Raises `EmulatorError` ``program_missing``."""
        self._path = path()
        self.folder = tempfile.mkdtemp(prefix="siwa-dev-")
        """For files that the arguments name. Removed when the program ends."""
        self.log = os.path.join(self.folder, "log")
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._owner = os.getpid()

    def start(self, port: int, arguments: List[str], timeout: float) -> int:
        """Returns the port. Raises `EmulatorError` ``start_failed`` after `timeout` seconds."""
        command = ["/bin/sh", "-c", _SUPERVISOR, "sh", self.folder]
        command += [self._path, "emulate", "--host", "127.0.0.1", "--port", str(port), *arguments]
        try:
            # The folder is gone when the program has failed, so the log is read through a descriptor.
            with open(self.log, "wb") as log, open(self.log, "rb") as reader:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    # Control-C in the terminal must reach the test run first, which may still use the fake.
                    start_new_session=True,
                )
                return self._wait_for_port(reader.fileno(), time.monotonic() + timeout)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends the program, waits for its end, and removes the folder.

        A second call does nothing, and neither does a call in a forked child, which must not end its parent's fake.
        """
        process, self._process = self._process, None
        if self._owner != os.getpid():
            return
        if process is not None and process.stdin is not None:
            # The program can have ended by itself.
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(b"\n")
                process.stdin.flush()
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()
        # A shell that has not started, or was killed, has not removed the folder.
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait_for_port(self, log: int, deadline: float) -> int:
        process = self._process
        while process is not None and time.monotonic() < deadline:
            ended = process.poll() is not None
            text = os.pread(log, 1 << 16, 0).decode(errors="replace")
            # The line break proves that the number is complete.
            found = re.search(r'listening on [^"\n]*:(\d+)"?\n', text)
            if found:
                return int(found.group(1))
            if ended:
                break
            time.sleep(0.005)
        text = os.pread(log, 1 << 16, 0).decode(errors="replace").strip()
        raise EmulatorError("start_failed", text[-2000:] or "the program did not listen in time")


class Fake:
    """A fake in a process of its own: a context manager, whose members are there in its block."""

    _program: Optional[RunningProgram] = None

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        if self._program is not None:
            self._program.stop()
            self._program = None

    # A type checker must not see it, because every misspelled name would have a type.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Raises `EmulatorError` ``stopped`` for the members that entering sets."""
            if self._program is not None or name.startswith("__"):
                raise AttributeError(f"{type(self).__name__} has no {name}")
            raise EmulatorError("stopped", f"{type(self).__name__} has not started")
