"""The same requests on databases of very different sizes."""

from dataclasses import dataclass
from statistics import median

from .load import Measurement, wrk
from .rounds import note
from .stores import Store
from .subjects import Stage, Subject
from .tokens import TOKENS, RequestFiles

_CONNECTIONS = 256


@dataclass(frozen=True)
class Size:
    store: str
    accounts: int
    file_mb: float
    state: list[Measurement]
    sign_in: list[Measurement]
    memory_mb: float
    """The most that was ever resident, at last under `_CONNECTIONS` connections."""


@dataclass(frozen=True)
class Growth:
    """Of CPU per request from the smallest size to the largest, as medians over rounds."""

    state: float
    sign_in: float


def run(stage: Stage, store: Store, sizes: list[int], rounds: int, seconds: int) -> list[Size]:
    prepared = [_prepare(stage, store, accounts) for accounts in sizes]
    measured: dict[str, list[Measurement]] = {subject.name: [] for pair in prepared for subject in pair}
    for pair in prepared:
        for subject in pair:
            _load(subject, seconds)
    for number in range(rounds):
        note(f"Sizes on {store.name}, round {number + 1} of {rounds}")
        for kind in (0, 1):
            for pair in prepared:
                subject = pair[kind]
                result = _load(subject, seconds)
                note(f"  {subject.name:18} {result.cpu_us:7.1f} us  {result.rate:7.0f}/s  p99 {result.p99_ms:.2f} ms")
                measured[subject.name].append(result)
    return [
        Size(
            store.name, accounts, store.megabytes(accounts), measured[state.name], measured[sign_in.name],
            _memory(state, sign_in, seconds))
        for accounts, (state, sign_in) in zip(sizes, prepared, strict=True)]


def growth(sizes: list[Size]) -> Growth:
    def times(runs: list[Measurement], least: list[Measurement]) -> float:
        return median(run.cpu_us / small.cpu_us for run, small in zip(runs, least, strict=True))

    fewest, most = sizes[0], sizes[-1]
    return Growth(times(most.state, fewest.state), times(most.sign_in, fewest.sign_in))


def _prepare(stage: Stage, store: Store, accounts: int) -> tuple[Subject, Subject]:
    note(f"Making {accounts:,} accounts on {store.name}, and tokens of {TOKENS:,} of them")
    server, port = store.start(accounts)
    requests = RequestFiles.write(stage.directory, f"{store.name}-{accounts}", stage.key, accounts)
    return (
        Subject(f"state/{accounts}", "", server, port, requests.state, store.backing),
        Subject(f"sign-in/{accounts}", "", server, port, requests.sign_in, store.backing))


def _load(subject: Subject, seconds: int, connections: int = 32) -> Measurement:
    return wrk(
        subject.server, subject.port, subject.requests, seconds=seconds, connections=connections,
        backing=subject.backing)


def _memory(state: Subject, sign_in: Subject, seconds: int) -> float:
    for subject in (state, sign_in):
        _load(subject, seconds, _CONNECTIONS)
    return state.server.resident_megabytes(peak=True)
