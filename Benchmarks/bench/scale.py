"""The same requests on databases of very different sizes."""

from dataclasses import dataclass
from statistics import median

from .accounts import check_space, fill_sqlite
from .load import Measurement, wrk
from .rounds import note
from .subjects import Stage, Subject
from .tokens import RequestFiles

_CONNECTIONS = 256


@dataclass(frozen=True)
class Size:
    accounts: int
    file_mb: float
    state: list[Measurement]
    sign_in: list[Measurement]
    memory_mb: float
    """Resident under `_CONNECTIONS` connections; the most that ever was."""


@dataclass(frozen=True)
class Growth:
    """Of CPU per request from the smallest size to another, as medians over rounds."""

    accounts: int
    state: float
    sign_in: float


def run(stage: Stage, sizes: list[int], rounds: int, seconds: int) -> list[Size]:
    check_space(stage.directory, sum(sizes))
    prepared = [_prepare(stage, accounts) for accounts in sorted(sizes)]
    measured: dict[str, list[Measurement]] = {subject.name: [] for pair in prepared for subject in pair}
    for pair in prepared:
        for subject in pair:
            wrk(subject.server, subject.port, subject.requests, seconds=max(2, seconds))
    for number in range(rounds):
        note(f"Sizes, round {number + 1} of {rounds}")
        for kind in (0, 1):
            for pair in prepared:
                subject = pair[kind]
                result = wrk(subject.server, subject.port, subject.requests, seconds=seconds)
                note(f"  {subject.name:18} {result.cpu_us:7.1f} us  {result.rate:7.0f}/s  p99 {result.p99_ms:.2f} ms")
                measured[subject.name].append(result)
    return [
        Size(
            accounts, stage.database(_name(accounts)).stat().st_size / 1e6, measured[state.name],
            measured[sign_in.name], _memory(state, sign_in, seconds))
        for accounts, (state, sign_in) in zip(sorted(sizes), prepared, strict=True)]


def growth(sizes: list[Size]) -> list[Growth]:
    fewest = sizes[0]

    def times(runs: list[Measurement], least: list[Measurement]) -> float:
        return median(run.cpu_us / small.cpu_us for run, small in zip(runs, least, strict=True))

    return [
        Growth(size.accounts, times(size.state, fewest.state), times(size.sign_in, fewest.sign_in))
        for size in sizes[1:]]


def _name(accounts: int) -> str:
    return f"accounts-{accounts}"


def _prepare(stage: Stage, accounts: int) -> tuple[Subject, Subject]:
    note(f"Making {accounts:,} accounts, and tokens for {min(accounts, 10_000):,} of them")
    name = _name(accounts)
    # The service itself makes the schema.
    server, _ = stage.sqlite(name)
    server.end()
    fill_sqlite(stage.database(name), accounts)
    server, port = stage.sqlite(name)
    requests = RequestFiles.write(stage.directory, name, stage.key, accounts)
    return (
        Subject(f"state/{accounts}", "", server, port, requests.state),
        Subject(f"sign-in/{accounts}", "", server, port, requests.sign_in))


def _memory(state: Subject, sign_in: Subject, seconds: int) -> float:
    for subject in (state, sign_in):
        wrk(subject.server, subject.port, subject.requests, seconds=seconds, connections=_CONNECTIONS)
    return state.server.resident_megabytes(peak=True)
