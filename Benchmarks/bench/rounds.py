"""Rounds of all subjects, one after the other, with the reference before and after each."""

import sys
from dataclasses import dataclass
from statistics import mean, median

from .load import Measurement, wrk
from .processes import BenchError, Server
from .subjects import CONNECTIONS, Subject
from .tokens import ONCE_PER_SECOND


@dataclass(frozen=True)
class Round:
    measured: Measurement
    ratio: float
    """CPU per request against the reference's, the mean of the runs before and after."""


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _measure(subject: Subject, seconds: int) -> Measurement:
    server, port = subject.renew() if subject.renew else (subject.server, subject.port)
    measured = send(subject, seconds, server, port)
    if subject.renew and measured.requests > ONCE_PER_SECOND * seconds:
        raise BenchError(f"{subject.name} was faster than {ONCE_PER_SECOND} a second: more requests are needed")
    note(
        f"  {subject.name:18} {measured.cpu_us:7.1f} us  {measured.rate:7.0f}/s  "
        f"p50 {measured.p50_ms:.2f} ms  p99 {measured.p99_ms:.2f} ms")
    return measured


def send(subject: Subject, seconds: int, server: Server | None = None, port: int | None = None) -> Measurement:
    """One run of wrk on a subject."""
    supply = subject.supply
    measured = wrk(
        server or subject.server, port or subject.port, subject.requests, seconds=seconds,
        connections=CONNECTIONS, backing=subject.backing, script=subject.script, skipped=supply.used if supply else 0)
    if supply:
        supply.take(measured.requests)
    return measured


WARM_UP_SECONDS = 2
"""The first seconds of a process are not its usual ones."""


def interleaved(
    reference: Subject, subjects: list[Subject], rounds: int, seconds: int, *, restarts: bool = False,
) -> dict[str, list[Round]]:
    """Speed of a machine drifts, so a ratio is taken to runs right beside it.

    With `restarts` each round has new processes. At each start the system chooses random addresses for a program and
    its libraries (ASLR), and these decide which of their cache lines collide: from one start to the next the same
    program took up to 17% more or less CPU time per request, and this did not change until it ended."""
    results: dict[str, list[Round]] = {subject.name: [] for subject in [reference, *subjects]}
    kept = [subject for subject in [reference, *subjects] if not subject.renew]
    if not restarts:
        _warm_up(kept)
    for number in range(rounds):
        note(f"Round {number + 1} of {rounds}")
        if restarts:
            for server in dict.fromkeys(subject.server for subject in kept):
                server.restart()
            _warm_up(kept)
        before = _measure(reference, seconds)
        results[reference.name].append(Round(before, 1))
        for subject in subjects:
            measured = _measure(subject, seconds)
            after = _measure(reference, seconds)
            results[subject.name].append(Round(measured, measured.cpu_us / mean([before.cpu_us, after.cpu_us])))
            results[reference.name].append(Round(after, 1))
            before = after
    return results


def _warm_up(subjects: list[Subject]) -> None:
    for subject in subjects:
        send(subject, WARM_UP_SECONDS)


def median_ratio(rounds: list[Round]) -> float:
    return median(round.ratio for round in rounds)


def median_of_quotients(rounds: list[Round], others: list[Round]) -> float:
    """Of one subject to another in the same round, both as ratios to the reference beside them."""
    return median(one.ratio / other.ratio for one, other in zip(rounds, others, strict=True))


def middle(rounds: list[Round]) -> Measurement:
    """The median of each column."""
    runs = [round.measured for round in rounds]
    return Measurement(
        cpu_us=median(run.cpu_us for run in runs), backing_us=median(run.backing_us for run in runs),
        rate=median(run.rate for run in runs), p50_ms=median(run.p50_ms for run in runs),
        p99_ms=median(run.p99_ms for run in runs), requests=sum(run.requests for run in runs),
        errors=sum(run.errors for run in runs))
