"""Deliveries of events: the cost of a delivery, and of receivers for the sign-ins beside them."""

import base64
import json
import secrets
import sqlite3
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from statistics import median

from .load import paced
from .postgres import Cluster
from .processes import BenchError, Server, free_port
from .rounds import note
from .subjects import PACKAGE, Stage, Subject, ask
from .tokens import TOKENS, RequestFiles

RECEIVERS = 3
_SECONDS = 10
_SIGN_INS = 500
"""Per second, all of new users, with two events each: 1,000 events a second."""
_IDLE_SECONDS = 30


@dataclass(frozen=True)
class Deliveries:
    """A service with some receivers, while new users sign in, and then while nothing happens."""

    store: str
    receivers: int
    is_paused: bool
    core: float
    """CPU of the service, as a share of one core."""
    backing: float
    """The same of the database server; 0 without one."""
    p50_ms: float
    p99_ms: float
    """Of the sign-ins."""
    behind_ms: float
    """From the last sign-in until all events had arrived."""
    idle: float
    """CPU without any work, as a share of one core."""


class DeliveryStage:
    """Services with receivers, which are on the core of the load."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._ports: list[int] = []
        secret = stage.directory / "webhook-secret"
        secret.write_text("whsec_" + base64.b64encode(secrets.token_bytes(32)).decode())
        self._secret = secret

    def environment(self, receivers: int) -> dict[str, str]:
        """Development takes receivers on this machine. It is the same for a service without receivers."""
        variables = {"SIWA_ENV": "development"}
        if receivers == 0:
            return variables
        while len(self._ports) < receivers:
            self._ports.append(self._receiver(len(self._ports)))
        file = self._stage.directory / f"receivers-{receivers}.yaml"
        file.write_text("webhooks:\n" + "".join(
            f"  - {{name: receiver-{number}, url: 'http://127.0.0.1:{self._ports[number]}/', "
            f"secret_files: ['{self._secret}']}}\n" for number in range(receivers)))
        return variables | {"SIWA_CONFIG": str(file)}

    def subject(self, name: str, requests: RequestFiles, url: str, backing: Server | None) -> Subject:
        """Sign-ins of known accounts, which have no events, beside three receivers."""
        server, port = self._stage.siwa(name, url, more=self.environment(RECEIVERS))
        self._stage.sign_everybody_in(server, port, requests)
        self._wait(TOKENS * 2)
        database = "PostgreSQL" if backing else "SQLite"
        return Subject(
            name, f"siwa, sign-in, durable, {database}, with three receivers", server, port, requests.sign_in,
            backing=backing)

    def run(
        self, requests: RequestFiles, rounds: int, clusters: list[Cluster | None],
    ) -> list[Deliveries]:
        runs: list[Deliveries] = []
        for number in range(rounds):
            for cluster in clusters:
                for receivers, is_paused in ((0, False), (1, False), (RECEIVERS, False), (RECEIVERS, True)):
                    name = f"deliveries-{number}-{receivers}{'-paused' if is_paused else ''}"
                    runs.append(self._measure(name, requests, cluster, receivers, is_paused))
        return runs

    def _measure(
        self, name: str, requests: RequestFiles, cluster: Cluster | None, receivers: int, is_paused: bool,
    ) -> Deliveries:
        environment = self.environment(receivers)
        database = name.replace("-", "_")
        path = self._stage.database(name)
        url = cluster.make_database(database) if cluster else f"sqlite://{path}"
        server, port = self._stage.siwa(name, url, more=environment)
        if is_paused:
            server.end()
            pausing = "UPDATE event_receiver SET paused_at = 1"
            if cluster:
                cluster.query(pausing, database)
            else:
                with closing(sqlite3.connect(path)) as file, file:
                    file.execute(pausing)
            server, port = self._stage.siwa(name, url, more=environment)
        backing = cluster.server if cluster else None
        before = self._arrived()
        cpu = server.cpu_seconds(), backing.cpu_seconds() if backing else 0.0
        began = time.monotonic()
        load = paced(port, requests.sign_in, rate=_SIGN_INS, seconds=_SECONDS, connections=64)
        ended = time.monotonic()
        if load.shed or load.refused or load.failed or load.p50_us is None or load.p99_us is None:
            raise BenchError(f"{name}: {load}")
        self._wait(before + (0 if is_paused else load.succeeded * 2 * receivers))
        behind = time.monotonic() - ended
        used = server.cpu_seconds() - cpu[0], (backing.cpu_seconds() if backing else 0.0) - cpu[1]
        # What an end of work leaves to do is not what an idle service does.
        time.sleep(2)
        idle = server.cpu_seconds()
        time.sleep(_IDLE_SECONDS)
        idle = (server.cpu_seconds() - idle) / _IDLE_SECONDS
        server.end()
        took = ended - began
        run = Deliveries(
            "PostgreSQL" if cluster else "SQLite", receivers, is_paused, used[0] / took, used[1] / took,
            load.p50_us / 1000, load.p99_us / 1000, behind * 1000, idle)
        note(
            f"  {name:24} {run.core:.1%} of a core and {run.backing:.1%}, sign-ins p50 {run.p50_ms:.2f} ms, "
            f"p99 {run.p99_ms:.2f} ms, behind {run.behind_ms:.0f} ms, idle {run.idle:.2%}")
        return run

    def _receiver(self, number: int) -> int:
        port = free_port()
        server = Server(
            f"receiver-{number}", [sys.executable, "-B", str(PACKAGE / "subjects" / "receiver.py"), str(port)],
            self._stage.directory / f"receiver-{number}.log", cores=self._stage.cores.load)
        self._stage.ending(server)
        server.wait_until(lambda: _count(port) == 0)
        return port

    def _arrived(self) -> int:
        return sum(_count(port) or 0 for port in self._ports)

    def _wait(self, expected: int) -> None:
        end = time.monotonic() + 60
        while self._arrived() < expected:
            if time.monotonic() > end:
                raise BenchError(f"{self._arrived()} of {expected} events arrived within a minute")
            time.sleep(0.01)


def _count(port: int) -> int | None:
    try:
        return int(json.loads(ask(port, b"GET /count HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")[1]))
    except OSError:
        return None


def measured(runs: list[Deliveries]) -> dict[str, float]:
    """The figures to reach, of what was measured."""
    cores: dict[tuple[str, int, bool], list[float]] = {}
    for run in runs:
        cores.setdefault((run.store, run.receivers, run.is_paused), []).append(run.core)
    found: dict[str, float] = {}
    for store, suffix in (("SQLite", ""), ("PostgreSQL", "-postgres")):
        if none := cores.get((store, 0, False)):
            pairs = zip(cores[store, 1, False], none, strict=True)
            found[f"delivery{suffix}"] = median(one - other for one, other in pairs)
            pairs = zip(cores[store, RECEIVERS, True], none, strict=True)
            found[f"paused{suffix}"] = median(one / other for one, other in pairs)
    return found
