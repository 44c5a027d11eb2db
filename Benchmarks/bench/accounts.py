"""Fills databases with accounts, faster than by signing them in."""

import hashlib
import shutil
import sqlite3
from pathlib import Path

from .processes import BenchError
from .tokens import CLIENT_ID, TEAM_ID, email, sub

# 2024-01-01, in milliseconds.
_EPOCH = 1_704_067_200_000
_BYTES_PER_ACCOUNT = 280


def account_id(number: int) -> bytes:
    """A UUID of version 7: in the order of time, as the service gives them."""
    digest = hashlib.md5(b"account %d" % number).digest()
    return (
        (_EPOCH + number).to_bytes(6, "big") + bytes([0x70 | digest[0] & 0x0F, digest[1], 0x80 | digest[2] & 0x3F])
        + digest[3:10])


def check_space(directory: Path, accounts: int) -> None:
    free, needed = shutil.disk_usage(directory).free, accounts * _BYTES_PER_ACCOUNT * 3 // 2
    if free < needed:
        raise BenchError(
            f"{accounts} accounts need {needed / 1e9:.1f} GB in {directory}, and {free / 1e9:.1f} GB are free: "
            "choose another folder with --work, or fewer with --accounts")


def fill_sqlite(path: Path, accounts: int) -> None:
    """Writes into a schema that the service made, while it is not running. Indexes grow in random order, as they do
    in service."""
    database = sqlite3.connect(path, isolation_level=None)
    database.create_function("sub", 1, sub, deterministic=True)
    database.create_function("email", 1, email, deterministic=True)
    database.create_function("account_id", 1, account_id, deterministic=True)
    # Nothing is lost with a file that can be made again.
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -2000000", "locking_mode = EXCLUSIVE"):
        database.execute(f"PRAGMA {pragma}")
    database.execute("BEGIN")
    for table, name in (("team", TEAM_ID), ("app", CLIENT_ID)):
        database.execute(f"INSERT INTO {table} (name) VALUES (?) ON CONFLICT DO NOTHING", (name,))
    database.execute(
        """
        WITH RECURSIVE account(number) AS (
            SELECT 0 UNION ALL SELECT number + 1 FROM account WHERE number + 1 < :accounts)
        INSERT INTO subject (
            team_id, sub, account_id, created_at, email, email_is_verified, email_is_private, email_at,
            real_user_status)
        SELECT
            (SELECT id FROM team WHERE name = :team), sub(number), account_id(number), :epoch + number, email(number),
            1, 1, :epoch + number, 2
        FROM account
        """,
        {"accounts": accounts, "team": TEAM_ID, "epoch": _EPOCH})
    database.execute(
        """
        INSERT INTO credential (subject_id, app_id, authorized_at, authorized_source, last_sign_in_at, email_at)
        SELECT id, (SELECT id FROM app WHERE name = ?), created_at, 1, created_at, created_at FROM subject ORDER BY id
        """,
        (CLIENT_ID,))
    database.execute("COMMIT")
    database.close()
