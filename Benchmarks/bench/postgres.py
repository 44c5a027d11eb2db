"""A throw-away PostgreSQL cluster, and pgbench in it as the yardstick of sign-ins."""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from .processes import BenchError, Server, free_port
from .tokens import CLIENT_ID, TEAM_ID, TOKENS, sub_sql

CLIENTS = 64
# PostgreSQL refuses to run as root.
_USER = "postgres" if os.geteuid() == 0 else None


def programs() -> Path | None:
    """Where the newest server's programs are."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("postgres")
    return Path(on_path).parent if on_path else None


class Cluster:
    """Durable as PostgreSQL is by default (fsync, synchronous_commit), on loopback."""

    def __init__(self, home: Path, programs: Path, cores: set[int], exits: ExitStack) -> None:
        self.name = home.name
        self._programs = programs
        self._port = free_port()
        home.mkdir()
        if _USER is not None:
            shutil.chown(home, _USER, _USER)
        self._run(["initdb", "-D", str(home / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale"])
        command = [
            str(programs / "postgres"), "-D", str(home / "data"), "-p", str(self._port), "-h", "127.0.0.1",
            "-k", str(home), "-c", "max_connections=200", "-c", "shared_buffers=512MB", "-c", "max_wal_size=4GB"]
        self.server = Server("postgres", command, home.with_suffix(".log"), cores=cores, user=_USER)
        # A fast shutdown does not wait for clients.
        exits.callback(lambda: self.server.end(signal.SIGINT))
        self.server.wait_until(
            lambda: subprocess.run(self._client("psql", "-c", "SELECT 1"), capture_output=True).returncode == 0)

    def make_database(self, name: str) -> str:
        """Its URL."""
        self.query(f"CREATE DATABASE {name}")
        return f"postgres://postgres@127.0.0.1:{self._port}/{name}?sslmode=disable"

    def query(self, sql: str, database: str = "postgres") -> str:
        return self._run(self._client("psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", sql)).strip()

    def copy(self, into: str, lines: Iterable[str], database: str) -> None:
        """Writes rows in the text format of COPY."""
        command = [
            str(self._programs / "psql"), *self._client("psql", "-qAt", "-v", "ON_ERROR_STOP=1", "-d", database)[1:],
            "-c", f"COPY {into} FROM STDIN"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, user=_USER, group=_USER,
            extra_groups=None if _USER is None else [], cwd="/",
        ) as psql:
            if psql.stdin is None or psql.stderr is None:
                raise BenchError("psql has no input")
            try:
                psql.stdin.writelines(lines)
                psql.stdin.close()
            except BrokenPipeError:
                # What it has against them stands below.
                pass
            said = psql.stderr.read()
        if psql.returncode != 0:
            raise BenchError(f"psql, COPY {into}: {said}")

    def write_upsert(self, path: Path, database: str) -> Path:
        """What a sign-in of a known account changes, as one statement of pgbench's on the service's own tables."""
        team = self.query(f"SELECT id FROM team WHERE name = '{TEAM_ID}'", database)
        app = self.query(f"SELECT id FROM app WHERE name = '{CLIENT_ID}'", database)
        path.write_text(
            f"\\set number random(0, {TOKENS - 1})\n"
            "INSERT INTO credential AS old (subject_id, app_id, authorized_at, authorized_source, last_sign_in_at) "
            f"SELECT id, {app}, created_at, 1, created_at FROM subject WHERE team_id = {team} "
            f"AND sub = {sub_sql(':number')} "
            "ON CONFLICT (subject_id, app_id) DO UPDATE SET "
            "authorized_at = greatest(old.authorized_at, excluded.authorized_at), "
            "last_sign_in_at = old.last_sign_in_at + 1;\n")
        return path

    def pgbench(self, script: Path, database: str, seconds: int) -> float:
        """Transactions per second."""
        said = self._run(self._client(
            "pgbench", "-n", "-M", "prepared", "-c", str(CLIENTS), "-j", "2", "-T", str(seconds), "-f", str(script),
            database))
        rate = re.search(r"^tps = ([0-9.]+)", said, re.MULTILINE)
        failed = re.search(r"number of failed transactions: ([0-9]+)", said)
        if rate is None or failed is not None and int(failed[1]) > 0:
            raise BenchError(f"pgbench: {said}")
        return float(rate[1])

    def _client(self, program: str, *arguments: str) -> list[str]:
        return [program, "-h", "127.0.0.1", "-p", str(self._port), "-U", "postgres", *arguments]

    def _run(self, command: list[str]) -> str:
        ran = subprocess.run(
            [str(self._programs / command[0]), *command[1:]], capture_output=True, text=True, check=False, timeout=900,
            user=_USER, group=_USER, extra_groups=None if _USER is None else [], cwd="/")
        if ran.returncode != 0:
            raise BenchError(f"{command[0]}: {ran.stdout}{ran.stderr}")
        return ran.stdout
