"""The pages of the console on a database of many people."""

import hashlib
import http.client
import re
import time
from dataclasses import dataclass
from http import HTTPStatus
from statistics import median
from urllib.parse import urlencode
from uuid import UUID

from .oauth import account_id
from .processes import BenchError, free_port
from .rounds import note
from .stores import Store
from .subjects import Stage
from .tokens import API_KEY, email, sub

_LOOKS = 9
_TIMEOUT_SECONDS = 20
# Half of the people share a first name, a last name is one person's, and every 50th has stopped using the app.
_FREQUENT_NAME = "Ada"
_VARIETY = f"""
    UPDATE subject
    SET first_name = CASE WHEN id % 2 = 0 THEN '{_FREQUENT_NAME}' ELSE 'Grace' END, last_name = 'Name' || id;
    UPDATE credential SET revoked_at = authorized_at + 1, revoked_reason = 1, revoked_source = 1
    WHERE subject_id % 50 = 0 AND authorized_at IS NOT NULL;
    """


@dataclass(frozen=True)
class Page:
    store: str
    people: int
    name: str
    median_ms: float
    worst_ms: float


def run(stage: Stage, store: Store, people: int) -> list[Page]:
    """Looks at every page several times, as a browser of an operator does, one request after the other."""
    note(f"Making {people:,} people on {store.name} for the console")
    port = free_port()
    settings = stage.directory / f"console-{store.name}.yaml"
    settings.write_text(
        "api_keys:\n"
        f"  - {{name: operator, roles: [operator], hash: {hashlib.sha256(API_KEY.encode()).hexdigest()}}}\n")
    store.start(
        people, variety=_VARIETY,
        more={"SIWA_API_KEY_HASHES": "", "SIWA_CONFIG": str(settings), "SIWA_CONSOLE_PORT": str(port)})
    visitor = _Operator(port)
    note(f"Looking at the console on {store.name}")
    return [
        Page(store.name, people, name, median(times), max(times))
        for name, path, form, text in _pages(people)
        for times in [[visitor.look(path, form, text) for _ in range(_LOOKS)]]]


def _pages(people: int) -> list[tuple[str, str, dict[str, str], str]]:
    """Names, paths, the fields of a form that is posted, and a text that only the page with the result has."""
    middle = people // 2
    person = f"/console/people/acc_{UUID(bytes=account_id(middle))}"
    somebody, nobody = "/console/people/acc_", "Nobody was found"
    people_page = "/console/people"
    return [
        ("overview", "/console/overview", {}, "Overview"),
        ("overview, by hour", "/console/overview?period=day", {}, "Overview"),
        ("newest people", people_page, {}, somebody),
        ("search: address", people_page, {"q": email(middle)}, person),
        ("search: `sub`", people_page, {"q": sub(middle)}, person),
        ("search: first name of every second person", people_page, {"q": _FREQUENT_NAME}, somebody),
        ("search: rare last name", people_page, {"q": f"Name{middle}"}, somebody),
        ("search: no such address", people_page, {"q": "nobody@example.com"}, nobody),
        ("filter: revoked", people_page, {"state": "revoked"}, somebody),
        ("filter: revoked, with a rare last name", people_page, {"q": f"Name{middle}", "state": "revoked"}, somebody),
        ("person", person, {}, "Time line"), ("requests", "/console/requests", {}, "Requests"),
        ("events", "/console/events", {}, "Events"), ("audit log", "/console/audit", {}, "Audit"),
        ("settings", "/console/settings", {}, "Settings")]


class _Operator:
    """A browser that has signed in."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_SECONDS)
        self._fields = {"Origin": f"http://127.0.0.1:{port}"}
        self._csrf = ""
        response, _ = self._ask("/console/sign-in", {"key": API_KEY})
        cookie = response.headers["Set-Cookie"]
        if response.status != HTTPStatus.SEE_OTHER or cookie is None:
            raise BenchError(f"the console answered the sign-in with {response.status}")
        self._fields["Cookie"] = cookie.split(";")[0]
        _, page = self._ask("/console/people", {})
        token = re.search(r'name="csrf" value="([^"]+)"', page)
        if token is None:
            raise BenchError("the console shows no form to search with")
        self._csrf = token[1]

    def look(self, path: str, form: dict[str, str], text: str) -> float:
        """Milliseconds until the whole page has come."""
        began = time.perf_counter()
        response, page = self._ask(path, form)
        milliseconds = (time.perf_counter() - began) * 1000
        if response.status != HTTPStatus.OK or text not in page:
            raise BenchError(f"{path} was answered with {response.status}, or without {text!r}")
        return milliseconds

    def _ask(self, path: str, form: dict[str, str]) -> tuple[http.client.HTTPResponse, str]:
        if form:
            self._connection.request(
                "POST", path, urlencode(form | {"csrf": self._csrf}),
                self._fields | {"Content-Type": "application/x-www-form-urlencoded"})
        else:
            self._connection.request("GET", path, headers=self._fields)
        response = self._connection.getresponse()
        return response, response.read().decode()
