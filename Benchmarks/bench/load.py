"""The two loads: wrk, which asks as fast as it is answered, and a load at a fixed rate."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .processes import BenchError, Server

_PACKAGE = Path(__file__).parents[1]
PACED_LOAD = _PACKAGE / ".build" / "release" / "PacedLoad"

FAILURES: list[str] = []
"""Errors under load. Measuring goes on, and the run ends as a failed one."""


@dataclass(frozen=True)
class Measurement:
    """What one run of wrk saw."""

    cpu_us: float
    """Of the server, per request."""
    backing_us: float
    """Of the database server, per request; 0 without one."""
    rate: float
    p50_ms: float
    p99_ms: float
    requests: int
    errors: int
    """Answers that were no success, and connections that failed."""


@dataclass(frozen=True)
class PacedResult:
    """What became of requests that were sent at a fixed rate.

    Latencies are those of successes, and of what was never sent."""

    succeeded: int
    in_time: int
    shed: int
    refused: int
    failed: int
    unsent: int
    p50_us: float | None
    p99_us: float | None

    @property
    def offered(self) -> int:
        return self.succeeded + self.shed + self.refused + self.failed + self.unsent


def wrk(
    server: Server, port: int, requests: Path, *, seconds: int, connections: int = 32,
    backing: Server | None = None, script: str = "cycle.lua", skipped: int = 0,
) -> Measurement:
    """One thread of wrk. Rates are those of successes.

    `skipped` requests of the file are left out."""
    command = [
        "wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s",
        "-s", str(_PACKAGE / "subjects" / script),
        f"http://127.0.0.1:{port}", "--", str(requests), str(skipped)]
    before = server.cpu_seconds(), backing.cpu_seconds() if backing else 0.0
    ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=False)
    after = server.cpu_seconds(), backing.cpu_seconds() if backing else 0.0
    result = next((line[7:] for line in ran.stdout.splitlines() if line.startswith("RESULT ")), None)
    if result is None:
        raise BenchError(f"wrk on {server.name}: {ran.stdout}{ran.stderr}")
    saw = json.loads(result)
    count, errors = saw["requests"], saw["refused"] + saw["failed"]
    if count == 0:
        raise BenchError(f"{server.name} answered nothing")
    if errors:
        FAILURES.append(f"{server.name}: of {count} requests {saw['refused']} refused, {saw['failed']} failed")
    return Measurement(
        cpu_us=(after[0] - before[0]) / count * 1e6, backing_us=(after[1] - before[1]) / count * 1e6,
        rate=(count - saw["refused"]) / saw["microseconds"] * 1e6, p50_ms=saw["p50_us"] / 1000,
        p99_ms=saw["p99_us"] / 1000, requests=count, errors=errors)


def paced(port: int, requests: Path, *, rate: float, seconds: float, connections: int) -> PacedResult:
    command = [
        str(PACED_LOAD), "--port", str(port), "--requests", str(requests), "--rate", str(rate),
        "--seconds", str(seconds), "--connections", str(connections)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=False)
    if ran.returncode != 0:
        raise BenchError(f"the load at a fixed rate: {ran.stderr}")
    return PacedResult(**json.loads(ran.stdout))
