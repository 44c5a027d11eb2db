"""Grants with their tokens and codes, written as rows: one grant for each account of a database."""

import hashlib
import sqlite3
import time
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from . import oauth
from .oauth import EPOCH, Client, Grant
from .postgres import Cluster
from .tokens import CLIENT_ID

_DAY = 86_400_000
_GRANT = "oauth_grant (id, account_id, oauth_client, app_id, scope, created_at, consented_at, authorized_at)"
_FAMILY = (
    "oauth_token_family (id, grant_id, is_native, scope, authenticated_at, authorized_at, created_at, expires_at, "
    "family_secret_digest, token_digest, generation, google_subject_is_learned)")
_CODE = (
    "oauth_code (digest, grant_id, redirect_uri, challenge, challenge_is_plain, scope, authenticated_at, "
    "authorized_at, issued_at, expires_at)")

Row = tuple[bytes | str | int, ...]


class Codes:
    """Codes that wait to be redeemed, of accounts that are spread over all."""

    def __init__(self, client: Client, accounts: int, count: int, people: int) -> None:
        """`people`: how many of the accounts have codes. All codes of a person are read with each of them."""
        self.client = client
        self.count = count
        self._people = oauth.spread(accounts, people)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Numbers of accounts, each with the index of a code."""
        for index in range(self.count):
            yield self._people[index % len(self._people)], index // len(self._people)

    def requests(self) -> Iterator[bytes]:
        return (oauth.redemption(number, index, self.client) for number, index in self)

    def rows(self) -> Iterator[Row]:
        now = int(time.time() * 1000)
        for number, index in self:
            digest = hashlib.sha256(oauth.code(number, index, self.client).encode()).digest()
            yield (
                digest, Grant(self.client, number).id, oauth.LOOPBACK_URI, oauth.challenge(number), 0,
                self.client.scope, EPOCH + number, EPOCH + number, now, now + _DAY)


def _grants(client: Client, numbers: Iterable[int], app: int) -> Iterator[Row]:
    for number in numbers:
        moment = EPOCH + number
        yield (
            Grant(client, number).id, oauth.account_id(number), client.id, app, client.scope, moment, moment,
            moment)


def _families(client: Client, numbers: Iterable[int]) -> Iterator[Row]:
    # One that does not end has the last moment there is.
    end = int(time.time() * 1000) + 90 * _DAY if client.is_native else 253_402_300_799_999
    for number in numbers:
        moment, grant = EPOCH + number, Grant(client, number)
        yield (
            grant.family_id, grant.id, int(client.is_native), client.scope, moment, moment, moment, end,
            hashlib.sha256(grant.family_secret).digest(), hashlib.sha256(grant.refresh_token.encode()).digest(), 0, 0)


def fill_sqlite(path: Path, people: list[tuple[Client, range]], codes: list[Codes]) -> None:
    """Into the tables that the service made. Nothing else may have the database open."""
    database = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -2000000", "locking_mode = EXCLUSIVE"):
        database.execute(f"PRAGMA {pragma}")
    database.execute("BEGIN")
    app, = database.execute("SELECT id FROM app WHERE name = ?", (CLIENT_ID,)).fetchone()

    def insert(into: str, rows: Iterable[Row]) -> None:
        places = ", ".join("?" * (into.count(",") + 1))
        database.executemany(f"INSERT INTO {into} VALUES ({places})", rows)

    for client, numbers in people:
        insert(_GRANT, _grants(client, numbers, app))
        insert(_FAMILY, _families(client, numbers))
    for some in codes:
        insert(_CODE, some.rows())
    database.execute("COMMIT")
    database.close()


def fill_postgres(cluster: Cluster, database: str, people: list[tuple[Client, range]], codes: list[Codes]) -> None:
    app = int(cluster.query(f"SELECT id FROM app WHERE name = '{CLIENT_ID}'", database))

    def copy(into: str, rows: Iterable[Row]) -> None:
        cluster.copy(into, ("\t".join(map(_field, row)) + "\n" for row in rows), database)

    for client, numbers in people:
        copy(_GRANT, _grants(client, numbers, app))
        copy(_FAMILY, _families(client, numbers))
    copy(_CODE, chain.from_iterable(some.rows() for some in codes))
    cluster.query("VACUUM ANALYZE", database)


def _field(value: bytes | str | int) -> str:
    """In PostgreSQL's text format. A UUID is the only value of 16 bytes, and says no `\\x`."""
    if isinstance(value, bytes):
        return value.hex() if len(value) == 16 else "\\\\x" + value.hex()
    return str(value)
