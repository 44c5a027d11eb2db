"""The command: starts what is asked for, measures it, prints the tables."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import FrameType

from . import app_attest, console, deliveries, extremes, grant_scale, machine, once, postgres, scale, signatures
from .load import FAILURES, wrk
from .oauth_subjects import BESIDE, ENDPOINTS, OAuthStage
from .processes import BenchError
from .report import Report
from .rounds import WARM_UP_SECONDS, interleaved, note
from .stores import PostgresStore, SQLiteStore, Store
from .subjects import Stage, Subject
from .tokens import TOKENS, RequestFiles, SigningKey, posted

SUBJECTS = [
    "echo", "verify", "sign-in", "state", *BESIDE, "nonce", "batch", "events", "first-sign-in", "notification",
    *app_attest.SUBJECTS, "sign-in-receivers", "sign-in-postgres", "sign-in-receivers-postgres", *ENDPOINTS,
    "jwt-kit", "pyjwt", "pyjwt-uvloop"]
PARTS = [
    *SUBJECTS, "signatures", "deliveries", "pgbench", "half-peak", "overload", "scale",
    "scale-postgres", "scale-grants", "scale-grants-postgres", "console", "console-postgres"]
# What PostgreSQL's part is bounded to: filling it takes longer.
MOST_POSTGRES_ACCOUNTS = 1_000_000
# The required time of a page is that with so many people.
MOST_CONSOLE_PEOPLE = 1_000_000


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures the service beside others.")
    parser.add_argument("--siwa", type=Path, required=True, help="the binary (scripts/bench builds it when not given)")
    parser.add_argument("--only", help=f"some of: {', '.join(PARTS)} (comma-separated; all)")
    parser.add_argument("--rounds", type=int, default=5, help="medians are of so many (5)")
    parser.add_argument("--seconds", type=int, default=3, help="of each run (3)")
    parser.add_argument("--accounts", default="10000,1000000,10000000", help="sizes of the scale run")
    parser.add_argument("--quick", action="store_true", help="one round of one second, no more than 100000 accounts")
    parser.add_argument("--work", type=Path, help="a folder for databases and tokens, 5 GB for the scale run")
    parser.add_argument("--json", type=Path, help="a file for everything that was measured")
    chosen = parser.parse_args()
    chosen.only = chosen.only.split(",") if chosen.only else PARTS
    unknown = set(chosen.only) - set(PARTS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    chosen.accounts = sorted({int(number) for number in chosen.accounts.split(",")})
    if chosen.quick:
        chosen.rounds, chosen.seconds = 1, 1
        chosen.accounts = sorted({min(number, 100_000) for number in chosen.accounts})
    if min(chosen.accounts) < TOKENS:
        parser.error(f"a size has at least {TOKENS} accounts")
    return chosen


class Run:
    """One run of the command."""

    def __init__(self, chosen: argparse.Namespace, directory: Path, exits: ExitStack) -> None:
        self._chosen = chosen
        self._exits = exits
        cores = machine.Cores.divide()
        os.sched_setaffinity(0, cores.load)
        self._programs = postgres.programs() if self._wants(
            "sign-in-postgres", "sign-in-receivers-postgres", "deliveries", "pgbench", "scale-postgres",
            "scale-grants-postgres", "console-postgres") else None
        self.report = Report(machine.description(cores, chosen.siwa, self._programs))
        note("\n".join(self.report.machine))
        self._stage = Stage(directory, SigningKey(directory), cores, chosen.siwa, exits)
        self._oauth = OAuthStage(self._stage)
        self._deliveries = deliveries.DeliveryStage(self._stage)
        self._pinned: postgres.Cluster | None = None
        note(f"Signing {TOKENS} tokens")
        self._requests = RequestFiles.write(directory, "main", self._stage.key, accounts=TOKENS)

    def measure(self) -> None:
        if self._wants(*SUBJECTS, "half-peak", "overload"):
            self._measure_subjects()
        if self._wants("signatures"):
            note("Signatures")
            self.report.signatures = signatures.measure(self._stage.cores.server, self._chosen.rounds)
        if self._wants("deliveries"):
            note("Deliveries")
            cluster = self._cluster("deliveries", self._stage.cores.server)
            self.report.deliveries = self._deliveries.run(self._requests, self._chosen.rounds, [None, cluster])
        if self._wants("pgbench"):
            self._measure_pgbench()
        if self._wants("scale"):
            self.report.sizes = self._scale(SQLiteStore(self._stage), self._chosen.accounts)
        if self._wants("scale-postgres"):
            store = PostgresStore(self._stage, self._cluster("scale", self._stage.cores.server))
            sizes = sorted({min(number, MOST_POSTGRES_ACCOUNTS) for number in self._chosen.accounts})
            self.report.postgres_sizes = self._scale(store, sizes)
        if self._wants("scale-grants"):
            sqlite_grants = grant_scale.SQLiteGrants(self._stage, self._oauth.environment)
            self.report.grant_sizes = self._scale_grants(sqlite_grants)
        if self._wants("scale-grants-postgres"):
            cluster = self._cluster("grants", self._stage.cores.server)
            self.report.postgres_grant_sizes = self._scale_grants(
                grant_scale.PostgresGrants(self._stage, cluster, self._oauth.environment))

        if self._wants("console"):
            self.report.pages += self._console(SQLiteStore(self._stage, "console"))
        if self._wants("console-postgres"):
            self.report.pages += self._console(
                PostgresStore(self._stage, self._cluster("console", self._stage.cores.server), "console"))

    def _console(self, store: Store) -> list[console.Page]:
        return console.run(self._stage, store, min(max(self._chosen.accounts), MOST_CONSOLE_PEOPLE))

    def _scale_grants(self, store: grant_scale.GrantStore) -> list[grant_scale.GrantSize]:
        return grant_scale.run(self._stage, self._oauth, store, self._chosen.rounds, self._chosen.seconds)

    def _scale(self, store: Store, sizes: list[int]) -> list[scale.Size]:
        return scale.run(self._stage, store, sizes, self._chosen.rounds, self._chosen.seconds)

    def _wants(self, *parts: str) -> bool:
        return any(part in self._chosen.only for part in parts)

    def _measure_subjects(self) -> None:
        rounds, seconds = self._chosen.rounds, self._chosen.seconds
        available = (
            self._sqlite_subjects()
            if self._wants("verify", "sign-in", "state", "nonce", "batch", "events", "half-peak", "overload") else {})
        available |= self._oauth.subjects(
            self._chosen.only, self._requests, (seconds + WARM_UP_SECONDS) * rounds)
        subjects = [self._subject(name, available) for name in SUBJECTS if self._wants(name)]
        if subjects:
            reference = self._stage.haproxy(self._requests)
            self.report.titles = {subject.name: subject.title for subject in [reference, *subjects]}
            self.report.subjects = interleaved(reference, subjects, rounds, seconds, restarts=True)
        if self._wants("half-peak"):
            note("Half of the peak rate")
            self.report.half_peak = [
                extremes.half_peak(available[name], rounds, seconds) for name in ("verify", "sign-in", "state")]
        if self._wants("overload"):
            note("Twice the peak rate")
            self.report.overload = [
                extremes.overload(available[name], rounds, seconds) for name in ("verify", "sign-in")]

    def _sqlite_subjects(self) -> dict[str, Subject]:
        server, port = self._stage.sqlite("main")
        self._stage.check(port, posted("/v1/identity-tokens/verify"))
        self._stage.sign_everybody_in(server, port, self._requests)
        return {
            name: Subject(name, title, server, port, requests)
            for name, title, requests in (
                ("verify", "siwa, verify", self._requests.verify),
                ("sign-in", "siwa, sign-in, durable, SQLite", self._requests.sign_in),
                ("state", "siwa, credential state", self._requests.state),
                ("nonce", "siwa, a new nonce", self._requests.nonce),
                ("batch", "siwa, states of 1,000 credentials in one query", self._requests.batch),
                ("events", "siwa, a page of 1,000 events", self._requests.events))}

    def _subject(self, name: str, available: dict[str, Subject]) -> Subject:
        match name:
            case "echo":
                return self._stage.echo(self._requests)
            case "jwt-kit":
                return self._stage.jwt_kit(self._requests)
            case "pyjwt":
                return self._stage.pyjwt(self._requests)
            case "pyjwt-uvloop":
                return self._stage.pyjwt_uvloop(self._requests)
            case "attestation" | "sign-in-attested":
                return app_attest.subject(name, self._stage, self._requests, self._chosen.seconds)
            case "first-sign-in" | "notification":
                return once.subject(name, self._stage, self._chosen.seconds)
            case "sign-in-receivers":
                return self._deliveries.subject(
                    name, self._requests, f"sqlite://{self._stage.database(name)}", backing=None)
            case "sign-in-postgres":
                return self._postgres_subject(self._pinned_cluster(), pinned=True)
            case "sign-in-receivers-postgres":
                cluster = self._pinned_cluster()
                return self._deliveries.subject(
                    name, self._requests, cluster.make_database("receivers"), backing=cluster.server)
            case _:
                return available[name]

    def _postgres_subject(self, cluster: postgres.Cluster, *, pinned: bool) -> Subject:
        url = cluster.make_database("siwa")
        server, port = self._stage.siwa(cluster.name, url, pinned=pinned)
        self._stage.sign_everybody_in(server, port, self._requests)
        return Subject(
            "sign-in-postgres", "siwa, sign-in, durable, PostgreSQL", server, port, self._requests.sign_in,
            backing=cluster.server)

    def _pinned_cluster(self) -> postgres.Cluster:
        """One for all subjects, so that they are compared on the same server."""
        self._pinned = self._pinned or self._cluster("pinned", self._stage.cores.server)
        return self._pinned

    def _cluster(self, name: str, cores: set[int]) -> postgres.Cluster:
        if self._programs is None:
            raise BenchError("PostgreSQL's server is not installed")
        return postgres.Cluster(self._stage.directory / f"postgres-{name}", self._programs, cores, self._exits)

    def _measure_pgbench(self) -> None:
        """Nothing is pinned here: service, PostgreSQL and load share all cores, as pgbench and PostgreSQL do."""
        note("PostgreSQL, sign-ins and pgbench")
        seconds = self._chosen.seconds
        cluster = self._cluster("free", machine.ALL_CORES)
        subject = self._postgres_subject(cluster, pinned=False)
        upsert = cluster.write_upsert(self._stage.directory / "upsert.sql", "siwa")
        with machine.everywhere():
            cluster.pgbench(upsert, "siwa", 1)
            for _ in range(self._chosen.rounds):
                ours = wrk(
                    subject.server, subject.port, subject.requests, seconds=seconds, connections=postgres.CLIENTS,
                    backing=subject.backing)
                theirs = cluster.pgbench(upsert, "siwa", seconds)
                note(
                    f"  sign-ins {ours.rate:.0f}/s ({ours.cpu_us:.1f} us and {ours.backing_us:.1f} us of PostgreSQL), "
                    f"pgbench {theirs:.0f}/s")
                self.report.postgres.append((ours.rate, theirs))


def end(number: int, frame: FrameType | None) -> None:
    # Everything that was started is ended on the way out.
    raise KeyboardInterrupt


def main() -> int:
    chosen = options()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    directory = Path(tempfile.mkdtemp(prefix="siwa-bench-", dir=chosen.work))
    # PostgreSQL runs as another user when this is root's.
    directory.chmod(0o755)
    try:
        with ExitStack() as exits:
            run = Run(chosen, directory, exits)
            try:
                run.measure()
            finally:
                # What was measured before a failure is not lost with it.
                print(run.report.markdown(), end="")
                if chosen.json:
                    run.report.write_json(chosen.json)
    except BenchError as error:
        note(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        note("Stopped.")
        return 130
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    for failure in FAILURES:
        note(f"error: {failure}")
    return 1 if FAILURES else 0


if __name__ == "__main__":
    sys.exit(main())
