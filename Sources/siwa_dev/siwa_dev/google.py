"""The fake Google as one Python object: account linking and its security events."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Dict, List, Literal, Mapping, Optional, Sequence

from .control import JSON, Control
from .program import Fake, RunningProgram

SecurityEvent = Literal[
    "sessions-revoked", "tokens-revoked", "token-revoked", "account-disabled", "account-enabled",
    "account-credential-change-required", "verification",
]
Place = Literal["token", "report", "certs", "risc_configuration", "stream"]


@dataclass(frozen=True)
class LinkStart:
    """A link that Google has begun."""

    url: str
    """The authorization URL for the browser, or the universal link that opens the app."""
    state: str
    redirect_uri: str


@dataclass(frozen=True)
class Response:
    """A response of the authorization server to Google."""

    status: Optional[int]
    """``None`` if the request or the response was lost."""
    body: Any
    """The JSON value, or the text of another body; ``None`` if there is none."""
    link: Optional[JSON]
    """The link after the response, with its tokens."""


def _response(answer: Mapping[str, Any]) -> Response:
    return Response(answer.get("status"), answer.get("body", answer.get("text")), answer.get("link"))


class GoogleFaults:
    """Faults of Google's endpoints, and of Google's requests to the token endpoint."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def set(
        self,
        place: Place,
        *,
        status: Optional[int] = None,
        lose: Optional[Literal["request", "answer"]] = None,
        delay_ms: Optional[int] = None,
        times: Optional[int] = None,
    ) -> None:
        """Makes a place fail until `clear`, or for this number of requests.

        :param status: Of Google's own endpoints, 200 to 599.
        :param lose: At ``token``: Google's request, or the response to it, is lost.
        :param delay_ms: Milliseconds, at most 60000.

        Raises `EmulatorError`.
        """
        self._control.put(
            f"/control/faults/{place}", {"status": status, "lose": lose, "delay_ms": delay_ms, "times": times}
        )

    def clear(self, place: Optional[Place] = None) -> None:
        """Ends the fault of one place, or all faults."""
        self._control.delete(f"/control/faults/{place}" if place else "/control/faults")


class FakeGoogle(Fake):
    """A fake Google in a process of its own, on a free port of 127.0.0.1, without TLS. A context manager.

    It links accounts with an OAuth 2.0 authorization server whose endpoints are those of siwa (``/oauth/authorize``,
    ``/oauth/token``, ``/oauth/revoke``, ``/oauth/introspect``). The process ends as `FakeApple`'s does.
    For App Flip, whose consent is a page that uses a fake Apple, run ``siwa dev``.

    :param issuer: The authorization server, for example ``http://127.0.0.1:8080``.
    :param client_id: The ID that the server has for Google.
    :param client_secret: The secret of this client.
    :param api_key: An API key of the app's backend, for App Flip and introspection.
    :param scopes: Scopes to ask for.
    :param project: The project in Google's console, a part of the redirect URI.
    :param google_client_id: The ``aud`` of Google's own tokens.
    :param start_timeout: Seconds after which a start has failed.

    Entering raises `EmulatorError` ``program_missing`` or ``start_failed``.
    """

    def __init__(
        self,
        *,
        issuer: str = "http://127.0.0.1:8080",
        client_id: str = "google",
        client_secret: str = "",
        api_key: Optional[str] = None,
        scopes: Sequence[str] = (),
        project: str = "fake-project",
        google_client_id: str = "123-fake.apps.googleusercontent.com",
        start_timeout: float = 30.0,
    ) -> None:
        self.issuer = issuer
        self.client_id = client_id
        self.google_client_id = google_client_id
        self._secret = client_secret
        self._api_key = api_key
        self._scopes = tuple(scopes)
        self._project = project
        self._start_timeout = start_timeout

    def __enter__(self) -> "FakeGoogle":
        program = RunningProgram()
        arguments = ["--google", "--issuer", self.issuer, "--oauth-client-id", self.client_id]
        arguments += ["--project", self._project, "--google-client-id", self.google_client_id]
        secrets = {"--oauth-client-secret-file": self._secret, "--api-key-file": self._api_key}
        for option, secret in secrets.items():
            # In a file, because every user of the machine can read the arguments of a process.
            if secret is not None:
                path = os.path.join(program.folder, option.lstrip("-"))
                with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
                    file.write(secret)
                arguments += [option, path]
        for scope in self._scopes:
            arguments += ["--scope", scope]
        self.port = program.start(0, arguments, self._start_timeout)
        self._program = program
        self.url = f"http://127.0.0.1:{self.port}"
        """The fake's address: ``SIWA_GOOGLE_BASE_URL`` of siwa."""
        self.log_file = program.log
        self._control = Control(self.url, None)
        self.faults = GoogleFaults(self._control)
        return self

    @property
    def redirect_uris(self) -> List[str]:
        """The redirect URIs to register at the server."""
        uris: List[str] = self._control.get("/control")["redirect_uris"]
        return uris

    def link(
        self,
        mode: Literal["browser", "app_flip"] = "browser",
        *,
        scope: Optional[str] = None,
        user_locale: Optional[str] = None,
        login_hint: Optional[str] = None,
        pkce: Optional[bool] = None,
        redirect_uri: Optional[str] = None,
    ) -> LinkStart:
        """Begins a link. The test opens ``url`` in a browser, or gives it to the app. Raises `EmulatorError`."""
        answer = self._control.post(
            "/control/link",
            {
                "mode": mode, "scope": scope, "user_locale": user_locale, "login_hint": login_hint, "pkce": pkce,
                "redirect_uri": redirect_uri,
            },
        )
        return LinkStart(answer["url"], answer["state"], answer["redirect_uri"])

    def answer(self, url: str) -> JSON:
        """Gives Google the URL to which the server redirected, and Google exchanges the code. Returns the link."""
        return self._control.post("/control/answer", {"url": url})

    def links(self) -> List[JSON]:
        """Returns the links with their tokens, the oldest first."""
        links: List[JSON] = self._control.get("/control/links")["links"]
        return links

    def refresh(self, link: Optional[str] = None) -> Response:
        """Refreshes the access token of a link, by default of the newest one."""
        return _response(self._control.post("/control/refresh", {"link": link}))

    def call(self, link: Optional[str] = None) -> Response:
        """Lets the app's API introspect the access token of a link, by default of the newest one."""
        return _response(self._control.post("/control/call", {"link": link}))

    def unlink(self, link: Optional[str] = None) -> Response:
        """Revokes the refresh token of a link, by default of the newest one."""
        return _response(self._control.post("/control/unlink", {"link": link}))

    def streamlined(
        self,
        intent: Literal["check", "get", "create"],
        *,
        sub: Optional[str] = None,
        email: Optional[str] = None,
        email_verified: Optional[bool] = None,
        hd: Optional[str] = None,
        scope: Optional[str] = None,
        assertion: Optional[str] = None,
    ) -> Response:
        """Sends Google's own ID token of an account to the token endpoint (streamlined linking)."""
        return _response(
            self._control.post(
                "/control/streamlined",
                {
                    "intent": intent, "sub": sub, "email": email, "email_verified": email_verified, "hd": hd,
                    "scope": scope, "assertion": assertion,
                },
            )
        )

    def events(self) -> List[JSON]:
        """Returns the security events of the server that Google has accepted."""
        events: List[JSON] = self._control.get("/control/events")["events"]
        return events

    def send_event(
        self,
        type: SecurityEvent,
        *,
        sub: Optional[str] = None,
        reason: Optional[str] = None,
        state: Optional[str] = None,
        jti: Optional[str] = None,
        link: Optional[str] = None,
    ) -> Response:
        """Sends one of Google's security events to the registered receiver, or else to the linked server.

        Raises `EmulatorError` ``event_not_sent`` if the receiver is disabled or has not requested this type.
        """
        body = {"type": type, "sub": sub, "reason": reason, "state": state, "jti": jti, "link": link}
        return _response(self._control.post("/control/send-event", body))

    def service_account(self, *, role: bool = True, api: bool = True) -> JSON:
        """Makes a service account, and returns the content of its JSON key file.

        :param role: ``False``: the account may not configure the event stream.
        :param api: ``False``: the RISC API is not enabled in the project.
        """
        body: Dict[str, Any] = {"role": role, "api": api}
        return self._control.post("/control/service-accounts", body)

    def stream(self) -> Optional[JSON]:
        """Returns the registered receiver: ``url``, ``events_requested``, ``status``; ``None`` if there is none."""
        return self._control.get("/control/stream") or None

    def rotate_key(self) -> str:
        """Signs with a new key from now on. Returns its ID. The old keys stay published, 8 keys in all."""
        kid: str = self._control.post("/control/keys/rotate")["kid"]
        return kid

    def exchanges(self) -> List[JSON]:
        """Returns the latest 50 requests with their responses."""
        exchanges: List[JSON] = self._control.get("/control/exchanges")["exchanges"]
        return exchanges

    def reset(self) -> None:
        """Forgets links, events, the receiver, exchanges and faults. Rotated keys and service accounts stay."""
        for path in ("links", "events", "stream", "exchanges", "faults"):
            self._control.delete(f"/control/{path}")
