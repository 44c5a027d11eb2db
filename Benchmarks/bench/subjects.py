"""What is measured, and how each subject is started and proven to do its work."""

import hashlib
import http.client
import json
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from .load import wrk
from .machine import ALL_CORES, Cores
from .processes import BenchError, Server, free_port
from .tokens import (
    API_KEY,
    CLIENT_ID,
    TEAM_ID,
    TOKENS,
    RequestFiles,
    SigningKey,
    borne,
    posted,
    state_query,
)

PACKAGE = Path(__file__).parents[1]
BUILT = PACKAGE / ".build" / "release"
CONNECTIONS = 32


@dataclass(frozen=True)
class Subject:
    name: str
    title: str
    server: Server
    port: int
    requests: Path
    backing: Server | None = None
    renew: Callable[[], tuple[Server, int]] | None = None
    """For requests that cost what they do only once: a new server on a new database, for each run."""
    script: str = "cycle.lua"
    """What wrk does with the requests."""
    supply: "Supply | None" = None
    """For requests that can be sent once, and of which the file has enough for all runs."""


class Supply:
    """Requests that can be sent once only."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.used = 0

    def take(self, count: int) -> None:
        # Those on the way when wrk ended are used too, and one that it makes without sending it.
        self.used += count + 2 * CONNECTIONS
        if self.used > self._count:
            raise BenchError(f"{self.used} of {self._count} requests were used: this machine needs more of them")


class Stage:
    """Starts servers, all on the same core, and ends them when it is left."""

    def __init__(self, directory: Path, key: SigningKey, cores: Cores, siwa: Path, exits: ExitStack) -> None:
        self.directory = directory
        self.key = key
        self.cores = cores
        self._siwa = siwa
        self._exits = exits

    def start(
        self, name: str, command: list[str], port: int, environment: dict[str, str] | None = None, *,
        pinned: bool = True,
    ) -> Server:
        server = Server(
            name, command, self.directory / f"{name}.log", environment=environment,
            cores=self.cores.server if pinned else ALL_CORES)
        self.ending(server)
        server.wait_until(lambda: accepts(port))
        return server

    def ending(self, server: Server) -> None:
        self._exits.callback(server.end)

    def siwa(
        self, name: str, database_url: str, *, pinned: bool = True, more: dict[str, str] | None = None,
    ) -> tuple[Server, int]:
        """`more`: what the service needs beside the rest, for OAuth or App Attest."""
        port = free_port()
        environment = {
            "APPLE_TEAM_ID": TEAM_ID, "APPLE_CLIENT_IDS": CLIENT_ID, "APPLE_KEYS_FILE": str(self.key.key_set),
            "SIWA_API_KEY_HASHES": f"bench={hashlib.sha256(API_KEY.encode()).hexdigest()}",
            "DATABASE_URL": database_url, "SIWA_PORT": str(port),
        } | (more or {})
        # With teams in a file the variables of a single team must not be set.
        environment = {name: value for name, value in environment.items() if value}
        # Only siwa-dev trusts the roots of the fake Apple.
        program = self._siwa.with_name("siwa-dev") if "APPLE_BASE_URL" in environment else self._siwa
        server = self.start(f"siwa-{name}", [str(program), "serve"], port, environment, pinned=pinned)
        server.wait_until(lambda: ask(port, b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")[0] == 200)
        return server, port

    def sqlite(self, name: str, more: dict[str, str] | None = None) -> tuple[Server, int]:
        return self.siwa(name, f"sqlite://{self.database(name)}", more=more)

    def database(self, name: str) -> Path:
        return self.directory / f"{name}.sqlite"

    def echo(self, requests: RequestFiles) -> Subject:
        port = free_port()
        server = self.start("echo", [str(BUILT / "EchoServer"), "--port", str(port)], port)
        return Subject("echo", "Hummingbird, JSON echo of the same size", server, port, requests.bare)

    def jwt_kit(self, requests: RequestFiles) -> Subject:
        port = free_port()
        command = [
            str(BUILT / "JWTKitServer"), "--port", str(port), "--keys", str(self.key.key_set),
            "--client-id", CLIENT_ID]
        server = self.start("jwt-kit", command, port)
        self.check(port, posted("/"))
        return Subject("jwt-kit", "jwt-kit on Hummingbird, verify", server, port, requests.bare)

    def pyjwt(self, requests: RequestFiles) -> Subject:
        return self._uvicorn("pyjwt", "PyJWT on uvicorn, verify", ["--loop", "asyncio", "--http", "h11"], requests)

    def pyjwt_uvloop(self, requests: RequestFiles) -> Subject:
        return self._uvicorn(
            "pyjwt-uvloop", "PyJWT on uvicorn with uvloop and httptools, verify",
            ["--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning"], requests)

    def _uvicorn(self, name: str, title: str, options: list[str], requests: RequestFiles) -> Subject:
        port = free_port()
        command = [
            sys.executable, "-B", "-m", "uvicorn", "pyjwt_service:app", "--app-dir", str(PACKAGE / "subjects"),
            "--host", "127.0.0.1", "--port", str(port), *options]
        server = self.start(name, command, port, {"KEYS": str(self.key.key_set), "CLIENT_ID": CLIENT_ID})
        self.check(port, posted("/"))
        return Subject(name, title, server, port, requests.bare)

    def haproxy(self, requests: RequestFiles) -> Subject:
        port = free_port()
        command = ["haproxy", "-db", "-f", str(PACKAGE / "subjects" / "haproxy.cfg")]
        server = self.start("haproxy", command, port, {"PORT": str(port), "PUBLIC_KEY": str(self.key.pem)})
        self.check(port, borne)
        return Subject("haproxy", "HAProxy, jwt_verify (the reference)", server, port, requests.bearer)

    def check(self, port: int, request: Callable[[str], bytes]) -> None:
        """A subject that lets a forgery pass does less work than the others."""
        verdicts = {"a good token": ask(port, request(self.key.token(0)))[0] == 200}
        for what, token in self.key.forgeries().items():
            verdicts[what] = ask(port, request(token))[0] in (400, 401, 403)
        wrong = [what for what, is_right in verdicts.items() if not is_right]
        if wrong:
            raise BenchError(f"port {port} does not judge as it should: {', '.join(wrong)}")

    def sign_everybody_in(self, server: Server, port: int, requests: RequestFiles) -> None:
        """A sign-in of each token, so that every account is known."""
        for seconds in (2, 4, 8, 16, 32, 64):
            # Tokens are sent in their order.
            sign_ins = wrk(server, port, requests.sign_in, seconds=seconds)
            if sign_ins.requests >= TOKENS + 32 and sign_ins.errors == 0:
                break
        for number in (0, TOKENS - 1):
            status, body = ask(port, state_query(number))
            if status != 200 or json.loads(body).get("state") != "authorized":
                raise BenchError(f"account {number} is not known after the first sign-ins")


def accepts(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def ask(port: int, request: bytes) -> tuple[int, bytes]:
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        client.sendall(request)
        answer = http.client.HTTPResponse(client)
        answer.begin()
        return answer.status, answer.read()
