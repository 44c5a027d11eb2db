"""The same requests on databases of very different sizes."""

from dataclasses import dataclass

from .load import wrk
from .rounds import Round, interleaved, median_ratio, note
from .stores import Store
from .subjects import Stage, Subject
from .tokens import TOKENS, RequestFiles

_CONNECTIONS = 256


@dataclass(frozen=True)
class Size:
    store: str
    accounts: int
    file_mb: float
    state: list[Round]
    """Against the smallest size, runs of which stand beside each."""
    sign_in: list[Round]
    memory_mb: float
    """The most that was ever resident, at last under `_CONNECTIONS` connections."""


@dataclass(frozen=True)
class Growth:
    """Of CPU per request from the smallest size to the largest, as medians over rounds."""

    state: float
    sign_in: float


def run(stage: Stage, store: Store, sizes: list[int], rounds: int, seconds: int) -> list[Size]:
    prepared = [_prepare(stage, store, accounts) for accounts in sizes]
    measured: dict[str, list[Round]] = {}
    for kind in (0, 1):
        note(f"Sizes on {store.name}")
        least, *others = (pair[kind] for pair in prepared)
        for subject in [least, *others]:
            # Reads in what the system had to put away meanwhile.
            wrk(subject.server, subject.port, subject.requests, seconds=seconds, backing=subject.backing)
        measured |= interleaved(least, others, rounds, seconds)
    return [
        Size(
            store.name, accounts, store.megabytes(accounts), measured[state.name], measured[sign_in.name],
            _memory(state, sign_in, seconds))
        for accounts, (state, sign_in) in zip(sizes, prepared, strict=True)]


def growth(sizes: list[Size]) -> Growth:
    return Growth(median_ratio(sizes[-1].state), median_ratio(sizes[-1].sign_in))


def _prepare(stage: Stage, store: Store, accounts: int) -> tuple[Subject, Subject]:
    note(f"Making {accounts:,} accounts on {store.name}, and tokens of {TOKENS:,} of them")
    server, port = store.start(accounts)
    requests = RequestFiles.write(stage.directory, f"{store.name}-{accounts}", stage.key, accounts)
    return (
        Subject(f"state/{accounts}", "", server, port, requests.state, store.backing),
        Subject(f"sign-in/{accounts}", "", server, port, requests.sign_in, store.backing))


def _memory(state: Subject, sign_in: Subject, seconds: int) -> float:
    for subject in (state, sign_in):
        wrk(
            subject.server, subject.port, subject.requests, seconds=seconds, connections=_CONNECTIONS,
            backing=subject.backing)
    return state.server.resident_megabytes(peak=True)
