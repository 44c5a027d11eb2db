"""The fakes' control API: JSON over HTTP, and the package's exception."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from typing import Any, Dict, List, Mapping, Optional

JSON = Dict[str, Any]

# What the caller can do about a refusal. The codes are the fake's own; docs/emulator.md explains the calls.
ADVICE = {
    "client_id_unknown": "Give the client ID to the fake: FakeApple(client_ids=[...]), the bundle ID first.",
    "configuration_invalid": "Correct the arguments of the fake. The detail names the wrong value.",
    "event_not_sent": "Let the receiver enable its stream and request this type of event.",
    "link_not_found": "Link first: google.link(), and google.answer(url) if the redirect URI is Google's own.",
    "member_ineffective": "Take the member out, because it changes nothing, or make its condition true.",
    "member_malformed": "Give a value as the detail says.",
    "member_unknown": "The package is older or newer than the program. Install the wheel again, and unset SIWA_DEV.",
    "no_signing_key": "Add a key first: apple.keys.rotate().",
    "notification_url_missing": "Set it: apple.notify_at(url), or FakeApple(notification_url=...).",
    "notification_url_refused": "Use an http or https URL of this machine.",
    "page_refused": "Correct the request of your backend to Apple's page. The detail has the page's words.",
    "program_missing": "Install the wheel (pip install siwa_dev-*.whl), or name the program in SIWA_DEV.",
    "redirect_uri_refused": "Use an https URL with a domain name, or a URL on this machine.",
    "server_missing": "Compare FakeGoogle(issuer=...) and the endpoints of the server with docs/fake-google.md.",
    "start_failed": "Read the log in the detail. A wrong option and a port in use are the common reasons.",
    "state_unknown": "Begin with google.link(); the server returns its state unchanged. See docs/fake-google.md.",
    "stopped": "Use the fake inside its with block. If the program ended by itself, read its log.",
    "token_missing": "Link again, because this link has no such token. See docs/fake-google.md.",
    "too_many_users": "Call apple.reset() between tests. The fixture does it.",
    "user_exists": "Choose another sub or another e-mail address.",
    "user_not_found": "Make the person first: apple.people.new(). A reset removes all people but the default one.",
}


class EmulatorError(Exception):
    """A refusal of a fake, or a fake that does not run.

    Match on ``code``. The other members are for people.
    """

    def __init__(self, code: str, detail: str = "", status: int = 0) -> None:
        self.code = code
        """The stable code, for example ``user_not_found``; ``program_missing``, ``start_failed``, ``stopped`` and
        ``page_refused`` come from this package."""
        self.status = status
        """The HTTP status of the refusal; 0 if there was no response."""
        self.detail = detail
        """The member or the limit at fault. It has no token."""
        self.advice = ADVICE.get(code, "Compare the call with docs/emulator.md.")
        """What to do."""
        shown = f"{code} ({status})" if status else code
        super().__init__(f"{shown}: {detail}. {self.advice}" if detail else f"{shown}. {self.advice}")


class Control:
    """Sends requests to one running fake."""

    def __init__(self, url: str, ca_file: Optional[str]) -> None:
        context = ssl.create_default_context(cafile=ca_file) if ca_file else None
        handlers: List[urllib.request.BaseHandler] = [
            # A proxy of the environment must not get requests for this machine.
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPSHandler(context=context),
        ]
        self._opener = urllib.request.build_opener(*handlers)
        self._url = url

    def get(self, path: str) -> JSON:
        """Returns the response. Raises `EmulatorError`."""
        return self._send("GET", path, None)

    def post(self, path: str, body: Optional[Mapping[str, Any]] = None) -> JSON:
        """Posts the members that are not ``None``. Raises `EmulatorError`."""
        return self._send("POST", path, body)

    def put(self, path: str, body: Mapping[str, Any]) -> JSON:
        """Puts the members that are not ``None``. Raises `EmulatorError`."""
        return self._send("PUT", path, body)

    def delete(self, path: str) -> JSON:
        """Raises `EmulatorError`."""
        return self._send("DELETE", path, None)

    def _send(self, method: str, path: str, body: Optional[Mapping[str, Any]]) -> JSON:
        data = None
        if body is not None:
            data = json.dumps({name: value for name, value in body.items() if value is not None}).encode()
        request = urllib.request.Request(self._url + path, data, method=method)
        if data is not None:
            request.add_header("Content-Type", "application/json")
        try:
            # Longer than the longest delay of a fault (60 s).
            with self._opener.open(request, timeout=75) as response:
                answer: JSON = json.load(response)
                return answer
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error.code, error.read()) from None
        except OSError as error:
            raise EmulatorError("stopped", f"{method} {path}: {error}") from None


def _refusal(status: int, body: bytes) -> EmulatorError:
    try:
        problem = json.loads(body)
        return EmulatorError(problem["code"], problem.get("detail", ""), status)
    except (ValueError, KeyError, TypeError):
        return EmulatorError("response_malformed", body[:200].decode(errors="replace"), status)
