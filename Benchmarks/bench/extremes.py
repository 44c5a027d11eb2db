"""Beyond the steady load of wrk: half of the peak rate, and twice the peak rate."""

from dataclasses import dataclass
from statistics import median

from .load import FAILURES, paced, wrk
from .processes import BenchError
from .rounds import note
from .subjects import Subject

_PEAK_CONNECTIONS = 64
_HALF_CONNECTIONS = 256
_OVERLOAD_CONNECTIONS = 1024


@dataclass(frozen=True)
class HalfPeak:
    subject: str
    peak: float
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True)
class Overload:
    subject: str
    peak: float
    offered: float
    """Requests per second that were due."""
    goodput: float
    """Successes in time, as a share of the peak."""
    shed: float
    """Answers 503, as a share of what was due."""
    unsent: float
    """What found no free connection, as a share of what was due."""
    p99_ms: float
    memory_mb: float
    """The most that was ever resident."""


def _peak(subject: Subject, seconds: int) -> float:
    return wrk(
        subject.server, subject.port, subject.requests, seconds=seconds, connections=_PEAK_CONNECTIONS).rate


def half_peak(subject: Subject, rounds: int, seconds: int) -> HalfPeak:
    """Latency counts from the moment at which a request was due, so all see a stall that it delays."""
    runs = []
    for _ in range(rounds):
        peak = _peak(subject, seconds)
        result = paced(
            subject.port, subject.requests, rate=peak / 2, seconds=seconds, connections=_HALF_CONNECTIONS)
        if result.p50_us is None or result.p99_us is None:
            raise BenchError(f"{subject.name} at half of its peak rate: {result}")
        if result.succeeded + result.unsent < result.offered:
            FAILURES.append(f"{subject.name} at half of its peak rate: {result}")
        run = HalfPeak(subject.name, peak, result.p50_us / 1000, result.p99_us / 1000)
        note(f"  {run.subject:18} {peak / 2:.0f}/s: p50 {run.p50_ms:.2f} ms, p99 {run.p99_ms:.2f} ms")
        runs.append(run)
    return HalfPeak(
        subject.name, median(run.peak for run in runs), median(run.p50_ms for run in runs),
        median(run.p99_ms for run in runs))


def overload(subject: Subject, rounds: int, seconds: int) -> Overload:
    runs = []
    for _ in range(rounds):
        peak = _peak(subject, seconds)
        result = paced(
            subject.port, subject.requests, rate=peak * 2, seconds=seconds, connections=_OVERLOAD_CONNECTIONS)
        if result.p99_us is None:
            raise BenchError(f"{subject.name} at twice its peak rate: {result}")
        if result.refused or result.failed:
            FAILURES.append(f"{subject.name} at twice its peak rate: {result}")
        run = Overload(
            subject.name, peak, peak * 2, result.in_time / seconds / peak, result.shed / result.offered,
            result.unsent / result.offered, result.p99_us / 1000, subject.server.resident_megabytes(peak=True))
        note(
            f"  {run.subject:18} {run.offered:.0f}/s: {run.goodput:.0%} of the peak, {run.shed:.0%} shed, "
            f"{run.unsent:.0%} unsent, p99 {run.p99_ms:.0f} ms, {run.memory_mb:.0f} MB")
        runs.append(run)
    return Overload(
        subject.name, median(run.peak for run in runs), median(run.offered for run in runs),
        median(run.goodput for run in runs), median(run.shed for run in runs), median(run.unsent for run in runs),
        median(run.p99_ms for run in runs), max(run.memory_mb for run in runs))
