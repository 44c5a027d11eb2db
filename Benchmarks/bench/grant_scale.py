"""Refresh, introspection and the redemption of codes on few grants and on many."""

from dataclasses import dataclass
from typing import Protocol

from . import grants, oauth
from .grants import Codes
from .oauth import NATIVE
from .oauth_subjects import OAuthStage
from .postgres import Cluster
from .processes import Server
from .rounds import WARM_UP_SECONDS, Round, interleaved, median_ratio, note, send
from .stores import PostgresStore, SQLiteStore
from .subjects import Stage, Subject, Supply
from .tokens import TOKENS, write_requests

SIZES = [10_000, 1_000_000]
KINDS = ["introspection", "refresh", "code"]
_CODES_PER_SECOND = 6_000
# Codes are good once, so their runs are short: else each person would have many, which are all read with each.
_CODE_SECONDS = 1


@dataclass(frozen=True)
class GrantSize:
    store: str
    grants: int
    file_mb: float
    runs: dict[str, list[Round]]
    """Of each kind of request, against the smallest size, runs of which stand beside each."""


class GrantStore(Protocol):
    """A kind of database with a grant for each of its accounts."""

    name: str
    backing: Server | None

    def start(self, accounts: int, codes: Codes) -> tuple[Server, int]: ...

    def megabytes(self, accounts: int) -> float: ...


class SQLiteGrants:
    name = SQLiteStore.name
    backing: Server | None = None

    def __init__(self, stage: Stage, environment: dict[str, str]) -> None:
        self._stage = stage
        self._environment = environment
        self._accounts = SQLiteStore(stage, "grants")

    def start(self, accounts: int, codes: Codes) -> tuple[Server, int]:
        name = self._accounts.fill(accounts)
        grants.fill_sqlite(self._stage.database(name), [(NATIVE, range(accounts))], [codes])
        return self._stage.sqlite(name, self._environment)

    def megabytes(self, accounts: int) -> float:
        return self._accounts.megabytes(accounts)


class PostgresGrants:
    name = PostgresStore.name

    def __init__(self, stage: Stage, cluster: Cluster, environment: dict[str, str]) -> None:
        self._stage = stage
        self._cluster = cluster
        self._environment = environment
        self._accounts = PostgresStore(stage, cluster, "grants")
        self.backing: Server | None = cluster.server

    def start(self, accounts: int, codes: Codes) -> tuple[Server, int]:
        database, url = self._accounts.fill(accounts)
        grants.fill_postgres(self._cluster, database, [(NATIVE, range(accounts))], [codes])
        return self._stage.siwa(database, url, more=self._environment)

    def megabytes(self, accounts: int) -> float:
        return self._accounts.megabytes(accounts)


def run(stage: Stage, authorization: OAuthStage, store: GrantStore, rounds: int, seconds: int) -> list[GrantSize]:
    prepared = {size: _prepare(stage, authorization, store, size, rounds) for size in SIZES}
    note(f"Grants on {store.name}")
    measured: dict[str, list[Round]] = {}
    for kind in KINDS:
        least, *others = (prepared[size][kind] for size in SIZES)
        length = _CODE_SECONDS if kind == "code" else seconds
        for subject in [least, *others]:
            # Reads in what the system had to put away meanwhile.
            send(subject, length)
        measured |= interleaved(least, others, rounds, length)
    return [
        GrantSize(
            store.name, size, store.megabytes(size),
            {kind: measured[prepared[size][kind].name] for kind in KINDS})
        for size in SIZES]


def growth(sizes: list[GrantSize]) -> dict[str, float]:
    """Of CPU per request from the smallest size to the largest, the database's included, as medians over rounds."""
    return {
        kind: median_ratio(runs) * (_with_database(runs) / _with_database(sizes[0].runs[kind]))
        for kind, runs in sizes[-1].runs.items()}


def _with_database(runs: list[Round]) -> float:
    """How much more the service and its database server cost together than the service alone."""
    own = sum(run.measured.cpu_us for run in runs)
    return (own + sum(run.measured.backing_us for run in runs)) / own


def _prepare(
    stage: Stage, authorization: OAuthStage, store: GrantStore, size: int, rounds: int,
) -> dict[str, Subject]:
    note(f"Making {size:,} grants on {store.name}")
    # The smallest size is measured before and after the others, and twice to warm it up.
    count = _CODES_PER_SECOND * (_CODE_SECONDS + WARM_UP_SECONDS + _CODE_SECONDS * 2 * rounds)
    codes = Codes(NATIVE, size, count, people=min(SIZES))
    server, port = store.start(size, codes)
    name = f"grants-{store.name}-{size}"
    introspection, refresh = authorization.exchange(name, port, oauth.spread(size, TOKENS))
    redemptions = write_requests(stage.directory / f"{name}-code.requests", codes.requests())
    return {
        "introspection": Subject(f"introspection/{size}", "", server, port, introspection, store.backing),
        "refresh": Subject(f"refresh/{size}", "", server, port, refresh, store.backing, script="rotate.lua"),
        "code": Subject(f"code/{size}", "", server, port, redemptions, store.backing, supply=Supply(codes.count))}
