"""What the figures were measured on."""

import datetime
import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

ALL_CORES = os.sched_getaffinity(0)


@dataclass(frozen=True)
class Cores:
    """Where servers run and where the load does."""

    server: set[int]
    load: set[int]

    @staticmethod
    def divide() -> "Cores":
        available = sorted(ALL_CORES)
        if len(available) < 2:
            return Cores(ALL_CORES, ALL_CORES)
        return Cores({available[0]}, set(available[1:]))

    def __str__(self) -> str:
        if self.server == self.load:
            return "one core for servers and load together: absolute figures are of no use, ratios of some"
        return (
            f"every server on core {min(self.server)}, also those with more threads; "
            f"the load on {', '.join(map(str, sorted(self.load)))}")


@contextmanager
def everywhere() -> Iterator[None]:
    """Lets this program, and what it starts meanwhile, run on all cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, ALL_CORES)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cpu_model() -> str:
    match = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return match[1] if match else platform.machine()


def version(command: list[str]) -> str:
    if shutil.which(command[0]) is None:
        return f"{command[0]}: not here"
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    return (ran.stdout + ran.stderr).strip().splitlines()[0]


def description(cores: Cores, siwa: Path, postgres: Path | None) -> list[str]:
    """One line per fact."""
    lines = [
        datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        f"{cpu_model()}, {len(ALL_CORES)} cores, Linux {platform.release()}",
        f"load average before the run {os.getloadavg()[0]:.2f}: above 0.3, figures say little",
        str(cores),
        f"siwa {version([str(siwa), '--version'])}",
        version(["haproxy", "-v"]),
        version(["wrk", "-v"]),
        f"hummingbird {resolved('hummingbird')}, jwt-kit {resolved('jwt-kit')}",
        f"PyJWT {metadata.version('PyJWT')}, cryptography {metadata.version('cryptography')}, "
        f"uvicorn {metadata.version('uvicorn')}, Python {platform.python_version()}",
    ]
    if postgres is not None:
        lines.append(version([str(postgres / "postgres"), "--version"]))
    return lines


def resolved(identity: str) -> str:
    """The version of a Swift package that was built."""
    file = Path(__file__).parents[1] / "Package.resolved"
    for pin in json.loads(file.read_text())["pins"]:
        if pin["identity"] == identity:
            return str(pin["state"].get("version", "?"))
    return "?"
