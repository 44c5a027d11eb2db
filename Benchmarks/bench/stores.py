"""Databases of many accounts, made faster than by one sign-in for each."""

import hashlib
import shutil
import sqlite3
from pathlib import Path
from typing import Protocol

from .oauth import EPOCH, account_id
from .postgres import Cluster
from .processes import BenchError, Server
from .subjects import Stage
from .tokens import CLIENT_ID, TEAM_ID, email, sub, sub_sql

_BYTES_PER_ACCOUNT = 300


class Store(Protocol):
    """One kind of database."""

    name: str
    backing: Server | None

    def start(
        self, accounts: int, *, variety: str = "", more: dict[str, str] | None = None,
    ) -> tuple[Server, int]:
        """A service on a new database of so many accounts, and its port. The service itself makes the schema.

        `variety`: statements that make some of the people different. `more`: settings of the service beside the rest.
        """

    def megabytes(self, accounts: int) -> float:
        """What the database takes on the disk."""


class SQLiteStore:
    name = "SQLite"
    backing: Server | None = None

    def __init__(self, stage: Stage, kind: str = "accounts") -> None:
        self._stage = stage
        self._kind = kind

    def start(
        self, accounts: int, *, variety: str = "", more: dict[str, str] | None = None,
    ) -> tuple[Server, int]:
        name = self.fill(accounts)
        if variety:
            database = sqlite3.connect(self._stage.database(name))
            database.executescript(variety)
            database.close()
        return self._stage.sqlite(name, more=more)

    def fill(self, accounts: int) -> str:
        """Its name."""
        name = f"{self._kind}-{accounts}"
        path = self._stage.database(name)
        check_space(path.parent, accounts)
        self._stage.sqlite(name)[0].end()
        try:
            fill_sqlite(path, accounts)
        except sqlite3.Error as error:
            # Ctrl-C comes here too, because most of the time is spent in the functions below.
            raise BenchError(f"{path.name} was not filled: {error}") from error
        return name

    def megabytes(self, accounts: int) -> float:
        return self._stage.database(f"{self._kind}-{accounts}").stat().st_size / 1e6


class PostgresStore:
    name = "PostgreSQL"

    def __init__(self, stage: Stage, cluster: Cluster, kind: str = "accounts") -> None:
        self._stage = stage
        self._cluster = cluster
        self._kind = kind
        self.backing: Server | None = cluster.server

    def start(
        self, accounts: int, *, variety: str = "", more: dict[str, str] | None = None,
    ) -> tuple[Server, int]:
        database, url = self.fill(accounts)
        if variety:
            self._cluster.query(variety, database)
            self._cluster.query("VACUUM ANALYZE", database)
        return self._stage.siwa(database, url, more=more)

    def fill(self, accounts: int) -> tuple[str, str]:
        """Its name and its URL."""
        check_space(self._stage.directory, accounts * 2)
        database = f"{self._kind}_{accounts}"
        url = self._cluster.make_database(database)
        self._stage.siwa(database, url)[0].end()
        self._cluster.query(fill_sql(accounts), database)
        self._cluster.query("VACUUM ANALYZE", database)
        return database, url

    def megabytes(self, accounts: int) -> float:
        return int(self._cluster.query(f"SELECT pg_database_size('{self._kind}_{accounts}')")) / 1e6


def check_space(directory: Path, accounts: int) -> None:
    free, needed = shutil.disk_usage(directory).free, accounts * _BYTES_PER_ACCOUNT * 3 // 2
    if free < needed:
        raise BenchError(
            f"{accounts} accounts need {needed / 1e9:.1f} GB in {directory}, and {free / 1e9:.1f} GB are free: "
            "choose another folder with --work, or fewer with --accounts")


def fill_sqlite(path: Path, accounts: int) -> None:
    """Indexes grow in random order, as they do in service."""
    database = sqlite3.connect(path, isolation_level=None)
    database.create_function("sub", 1, sub, deterministic=True)
    database.create_function("email", 1, email, deterministic=True)
    database.create_function("account_id", 1, account_id, deterministic=True)
    database.create_function("key_digest", 2, key_digest, deterministic=True)
    database.create_function("first_credential_id", 1, first_credential_id, deterministic=True)
    database.create_function("key_check", 1, key_check, deterministic=True)
    # Nothing is lost with a file that can be made again.
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -2000000", "locking_mode = EXCLUSIVE"):
        database.execute(f"PRAGMA {pragma}")
    database.execute("BEGIN")
    for table, name in (("team", TEAM_ID), ("app", CLIENT_ID)):
        database.execute(f"INSERT INTO {table} (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
    team, = database.execute("SELECT id FROM team WHERE name = ?", (TEAM_ID,)).fetchone()
    database.execute(
        """
        WITH RECURSIVE account(number) AS (
            SELECT 0 UNION ALL SELECT number + 1 FROM account WHERE number + 1 < :accounts)
        INSERT INTO subject (
            team_id, sub, account_id, created_at, email, email_is_verified, email_is_private, email_at,
            real_user_status, key_digest)
        SELECT
            :team, sub(number), account_id(number), :epoch + number, email(number), 1, 1, :epoch + number, 2,
            key_digest(:team, sub(number))
        FROM account
        """,
        {"accounts": accounts, "team": team, "epoch": EPOCH})
    database.execute(
        """
        INSERT INTO credential (
            id, subject_id, app_id, key_check, authorized_at, authorized_source, last_sign_in_at, email_at)
        SELECT
            -- The service counts from 0. Here it is to keep those apart whose digests begin the same.
            first_credential_id(key_digest) + id % 256, id, (SELECT id FROM app WHERE name = ?),
            key_check(key_digest), created_at, 1, created_at, created_at
        FROM subject ORDER BY subject.id
        """,
        (CLIENT_ID,))
    database.execute("COMMIT")
    database.close()


def key_digest(team: int, name: str) -> bytes:
    """What the service finds a person by."""
    return hashlib.sha256(team.to_bytes(8, "big") + name.encode()).digest()[:16]


def first_credential_id(digest: bytes) -> int:
    """Where a person's credentials stand."""
    return int.from_bytes(digest[:6] + b"\0\0", "big", signed=True)


def key_check(digest: bytes) -> int:
    return int.from_bytes(digest[8:], "big", signed=True)


def fill_sql(accounts: int) -> str:
    """The same for PostgreSQL."""
    return f"""
        INSERT INTO team (name) VALUES ('{TEAM_ID}') ON CONFLICT DO NOTHING;
        INSERT INTO app (name) VALUES ('{CLIENT_ID}') ON CONFLICT DO NOTHING;
        INSERT INTO subject (
            id, team_id, sub, account_id, created_at, email, email_is_verified, email_is_private, email_at,
            real_user_status)
        SELECT
            number + 1, (SELECT id FROM team WHERE name = '{TEAM_ID}'), {sub_sql('number')},
            (lpad(to_hex({EPOCH} + number), 12, '0') || '7' || left(digest, 3) || '8' || substr(digest, 4, 15))::uuid,
            {EPOCH} + number, left(digest, 10) || '@privaterelay.appleid.com', true, true, {EPOCH} + number, 2
        FROM generate_series(0::bigint, {accounts - 1}) AS number, LATERAL (SELECT md5(number::text)) AS md5 (digest);
        -- New subjects take their numbers from blocks behind these.
        SELECT setval('subject_block', {accounts + 4096});
        INSERT INTO credential (subject_id, app_id, authorized_at, authorized_source, last_sign_in_at, email_at)
        SELECT id, (SELECT id FROM app WHERE name = '{CLIENT_ID}'), created_at, 1, created_at, created_at
        FROM subject ORDER BY subject.id;
        """
