"""The authorization server: what each of its endpoints is measured with."""

import http.client
import json
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path

from . import grants, oauth
from .grants import Codes
from .oauth import GOOGLE, NATIVE, NATIVE_OPENID, Grant
from .processes import BenchError, Server
from .stores import fill_sqlite
from .subjects import Stage, Subject, Supply, ask
from .tokens import TOKENS, RequestFiles, write_requests

CODES_PER_SECOND = 8_000
"""Of codes, which can be redeemed once only, so many are there for each second of a run."""
_CODE_ACCOUNTS = 40_000

ENDPOINTS = [
    "introspection", "refresh", "refresh-google", "code", "code-id-token", "authorize", "authorize-arrival"]
BESIDE = ["verify-oauth", "sign-in-oauth", "state-oauth"]
"""What the service does without OAuth clients too."""


class OAuthStage:
    """Services with OAuth clients: one on the accounts of all parts, each with a grant, and one on many accounts with
    codes to redeem."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.environment = oauth.environment(oauth.configuration(stage.directory / "oauth.yaml"))

    def subjects(self, names: list[str], requests: RequestFiles, seconds: int) -> dict[str, Subject]:
        """`seconds`: how long the runs of one subject take together."""
        found: dict[str, Subject] = {}
        if set(names) & {*BESIDE, "introspection", "refresh", "authorize", "authorize-arrival"}:
            found |= self._with_grants(requests)
        if set(names) & {"code", "code-id-token", "refresh-google"}:
            found |= self._with_codes(seconds)
        return found

    def _with_grants(self, requests: RequestFiles) -> dict[str, Subject]:
        server, port = self._start("oauth", TOKENS, [(NATIVE, range(TOKENS))], [])
        introspection, refresh = self.exchange("oauth", port, oauth.spread(TOKENS, TOKENS))
        numbers = oauth.spread(TOKENS, TOKENS)
        pages = {
            has_session: self._file(f"authorize-{has_session}", (
                oauth.authorization(number, has_session=has_session) for number in numbers))
            for has_session in (True, False)}
        check_page(port)
        return {
            name: Subject(name, title, server, port, file, script=script)
            for name, title, file, script in (
                ("verify-oauth", "siwa with OAuth clients, verify", requests.verify, "cycle.lua"),
                ("sign-in-oauth", "siwa with OAuth clients, sign-in, durable, SQLite", requests.sign_in, "cycle.lua"),
                ("state-oauth", "siwa with OAuth clients, credential state", requests.state, "cycle.lua"),
                ("introspection", "siwa, introspection of an access token", introspection, "cycle.lua"),
                ("refresh", "siwa, refresh with rotation, durable, SQLite", refresh, "rotate.lua"),
                ("authorize", "siwa, the consent page of a person who is signed in", pages[True], "cycle.lua"),
                ("authorize-arrival", "siwa, an authorization request that goes on to Apple", pages[False],
                 "cycle.lua"))}

    def _with_codes(self, seconds: int) -> dict[str, Subject]:
        accounts, count = _CODE_ACCOUNTS, CODES_PER_SECOND * seconds
        codes = {
            "code": Codes(NATIVE, accounts, count, people=accounts),
            "code-id-token": Codes(NATIVE_OPENID, accounts, count // 2, people=accounts)}
        linked = range(accounts, accounts + TOKENS)
        server, port = self._start(
            "codes", accounts + TOKENS, [(NATIVE, range(accounts)), (GOOGLE, linked)], list(codes.values()))
        titles = {
            "code": "siwa, code for tokens, durable, SQLite",
            "code-id-token": "siwa, code for tokens with an ID token (RS256), durable, SQLite"}
        found = {
            name: Subject(
                name, titles[name], server, port, self._file(name, some.requests()), supply=Supply(some.count))
            for name, some in codes.items()}
        google = self._file(
            "refresh-google", (oauth.refresh(Grant(GOOGLE, number).refresh_token, GOOGLE) for number in linked))
        found["refresh-google"] = Subject(
            "refresh-google", "siwa, refresh of Google's, without rotation, SQLite", server, port, google)
        return found

    def _start(
        self, name: str, accounts: int, people: list[tuple[oauth.Client, range]], codes: list[Codes],
    ) -> tuple[Server, int]:
        self._stage.sqlite(name, self.environment)[0].end()
        fill_sqlite(self._stage.database(name), accounts)
        grants.fill_sqlite(self._stage.database(name), people, codes)
        return self._stage.sqlite(name, self.environment)

    def _file(self, name: str, requests: Iterable[bytes]) -> Path:
        return write_requests(self._stage.directory / f"{name}.requests", requests)

    def exchange(self, name: str, port: int, numbers: Iterable[int]) -> tuple[Path, Path]:
        """Refreshes the first token of each account: the access tokens are for introspection, the refresh tokens for
        the next refresh."""
        requests = [oauth.refresh(Grant(NATIVE, number).refresh_token, NATIVE) for number in numbers]
        answers = [json.loads(body) for body in answered(port, requests)]
        introspections = [oauth.introspection(answer["access_token"]) for answer in answers]
        body = next(answered(port, introspections[:1]))
        if json.loads(body).get("active") is not True:
            raise BenchError(f"introspection of a new token: {body!r}")
        tokens = self._stage.directory / f"{name}-refresh.tokens"
        tokens.write_text("".join(answer["refresh_token"] + "\n" for answer in answers))
        return self._file(f"{name}-introspection", introspections), tokens


def check_page(port: int) -> None:
    """A redirect, or a page that says something else, is less work."""
    status, page = ask(port, oauth.authorization(0, has_session=True))
    if status != 200 or b"<form" not in page:
        raise BenchError(f"the consent page: {status} {page[:500]!r}")
    status, _ = ask(port, oauth.authorization(0, has_session=False))
    if status != 303:
        raise BenchError(f"an authorization request without a session: {status}")


def answered(port: int, requests: list[bytes]) -> Iterator[bytes]:
    """The bodies of successes, over some connections at once, so that commits are shared."""
    sockets = [socket.create_connection(("127.0.0.1", port), 10) for _ in range(32)]
    try:
        for start in range(0, len(requests), len(sockets)):
            pairs = list(zip(sockets, requests[start:]))
            for connection, request in pairs:
                connection.sendall(request)
            for connection, _ in pairs:
                answer = http.client.HTTPResponse(connection)
                answer.begin()
                body = answer.read()
                if answer.status not in (200, 201):
                    raise BenchError(f"port {port}: {answer.status} {body!r}")
                yield body
    finally:
        for connection in sockets:
            connection.close()
