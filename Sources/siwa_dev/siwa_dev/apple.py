"""The fake Apple as one Python object: people, tokens, notifications, faults, time, keys."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import socket
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Literal, Mapping, Optional, Sequence, Tuple, TypedDict, Union

from .browser import Browser
from .control import JSON, Control, EmulatorError
from .program import Fake, RunningProgram

NotificationType = Literal["consent-revoked", "account-deleted", "email-disabled", "email-enabled"]
Endpoint = Literal[
    "keys", "discovery", "authorize", "token", "revoke", "migration", "attestation_data", "notifications"
]

# The names under which libraries find Apple.
_APPLE_HOSTS = ("appleid.apple.com", "account.apple.com")
_KEY_ID = "ABC123DEFG"
_DEFAULT_CLIENT_IDS = ("com.example.app", "com.example.web")


class Forgery(TypedDict, total=False):
    """What to change in a token or a notification. All other parts stay as Apple writes them."""

    claims: Dict[str, Any]
    """Claims to add or to replace."""
    remove_claims: List[str]
    header: Dict[str, Any]
    """Header parameters to add or to replace."""
    remove_header: List[str]
    alg: Literal["RS256", "RS384", "RS512", "HS256", "HS384", "HS512", "none"]
    kid: str
    """The ID of any key, also of a retired or an invented key."""
    signature: Literal["valid", "tampered", "missing", "wrong_key", "other_key", "other_claims"]
    time_offset: int
    """Seconds from now at which the token is issued."""
    iat: int
    """The time of issue, in seconds since 1970, instead of ``time_offset``."""
    lifetime: int
    """Seconds from the time of issue to the expiry; 86400 by default."""


def _claims(token: str) -> JSON:
    try:
        part = token.split(".")[1]
        claims: JSON = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        return claims
    except (IndexError, ValueError):
        raise EmulatorError("response_malformed", "the token is not a JWT") from None


@dataclass(frozen=True)
class User:
    """The name and address that Apple gives at the first authorization only."""

    first_name: Optional[str]
    last_name: Optional[str]
    email: Optional[str]

    @property
    def ios(self) -> JSON:
        """As ``ASAuthorizationAppleIDCredential`` has it: ``fullName`` with its components, and ``email``."""
        return {
            "fullName": {"givenName": self.first_name, "familyName": self.last_name},
            "email": self.email,
        }

    @property
    def web_form(self) -> str:
        """As the form field ``user`` has it: JSON with ``name`` and ``email``."""
        user: JSON = {"name": {"firstName": self.first_name, "lastName": self.last_name}}
        if self.email is not None:
            user["email"] = self.email
        return json.dumps(user)


@dataclass(frozen=True)
class SignIn:
    """The values that an app gets from Apple after one sign-in."""

    identity_token: str
    code: Optional[str]
    """The authorization code; ``None`` if the sign-in was made without a code."""
    user: Optional[User]
    """``None`` after the first authorization."""

    @property
    def claims(self) -> JSON:
        """The claims of the identity token, without any check."""
        return _claims(self.identity_token)

    def form(self, state: Optional[str] = None) -> Dict[str, str]:
        """Returns the fields that Apple's page posts to a redirect URI (``response_mode=form_post``)."""
        fields = {"id_token": self.identity_token}
        if state is not None:
            fields["state"] = state
        if self.code is not None:
            fields["code"] = self.code
        if self.user is not None:
            fields["user"] = self.user.web_form
        return fields


@dataclass(frozen=True)
class WebSignIn:
    """The response of Apple's page to the browser."""

    address: str
    """The redirect URI to which the browser goes."""
    form: Dict[str, str]
    """The fields of the form that the browser posts there: ``state``, ``code``, ``id_token``, ``user`` or ``error``.
    Empty if Apple redirects (``response_mode`` ``query`` or ``fragment``): then ``address`` has them."""


@dataclass(frozen=True)
class Notification:
    """A server-to-server notification of Apple, and the response of the receiver."""

    type: str
    client_id: str
    payload: str
    """The signed JWT. Apple posts it as JSON: ``{"payload": "..."}``."""
    status: Optional[int]
    """The status of the receiver's response; ``None`` if nothing was posted, or if there was no response."""
    failure: Optional[str]
    """The reason why there was no response, for example ``connection_failed``."""

    @property
    def event(self) -> JSON:
        """The event in the payload: ``type``, ``sub``, ``event_time`` in milliseconds, without any check."""
        events = _claims(self.payload)["events"]
        # Apple writes the object as a string.
        event: JSON = json.loads(events) if isinstance(events, str) else events
        return event


def _notification(json: JSON) -> Notification:
    delivery: JSON = json.get("delivery", {})
    return Notification(
        json["type"], json["client_id"], json["payload"], delivery.get("status"), delivery.get("failure")
    )


@dataclass(frozen=True)
class Person:
    """An owner of an Apple Account, as the fake had it when this value was made.

    ``apple.people.get(person.sub)`` returns the person as it is now.
    """

    sub: str
    """The user ID for the first team, stable for each person."""
    first_name: Optional[str]
    last_name: Optional[str]
    email: Optional[str]
    """The real address, also if it is hidden from apps."""
    relay_email: Optional[str]
    """The address that apps see if ``hides_email``."""
    hides_email: bool
    email_forwarding: bool
    is_deleted: bool
    apps: Tuple[str, ...]
    """The client IDs that the person has authorized."""
    _apple: "FakeApple" = field(repr=False)

    def sign_in(
        self,
        nonce: Optional[str] = None,
        client_id: Optional[str] = None,
        *,
        code: Union[bool, str] = True,
        redirect_uri: Optional[str] = None,
        auth_time: Optional[int] = None,
        include_user: Optional[bool] = None,
        forgery: Optional[Forgery] = None,
    ) -> SignIn:
        """Signs in without a page, as on an iPhone. Returns what the app gets.

        :param nonce: The claim ``nonce``, verbatim: the app hashes its nonce itself.
        :param client_id: The audience; the bundle ID by default. A Services ID gives a token of the web.
        :param code: ``True`` for a generated code, which is valid for `code_lifetime` seconds, ``False`` for none.
        :param redirect_uri: The redirect URI to which the code is bound, for a code of the web.
        :param auth_time: The claim, in seconds since 1970; now by default.
        :param include_user: Whether Apple gives the name. By default at the first authorization only.

        Raises `EmulatorError`.
        """
        body: JSON = {
            "sub": self.sub, "client_id": client_id, "nonce": nonce, "code": code or None,
            "redirect_uri": redirect_uri, "auth_time": auth_time, "include_user": include_user,
        }
        answer = self._apple._control.post("/emulator/identity-tokens", {**body, **(forgery or {})})
        user = None
        if "user" in answer:
            name = answer["user"].get("name", {})
            user = User(name.get("firstName"), name.get("lastName"), answer["user"].get("email"))
        return SignIn(answer["identity_token"], answer.get("authorization_code"), user)

    def sign_in_on_web(self, url: str, *, cancel: bool = False) -> WebSignIn:
        """Opens the authorization URL to which the backend redirects, and allows what the app requests.

        The fake checks client ID, redirect URI and parameters as Apple does.

        :param url: At Apple's address or at the fake's.
        :param cancel: Presses *Cancel* instead.

        Raises `EmulatorError` ``page_refused`` with the words of Apple's page.
        """
        browser = Browser(self._apple.issuer, self._apple.url, self._apple.ca_file)
        answer = browser.open(url)
        if cancel:
            form = answer.form("cancel")
            answer = browser.open(form.action, {**form.fields, "cancel": "1"})
        else:
            # The page lists 20 people. The person can be on a later page.
            form = answer.form("cancel")
            answer = browser.open(form.action, {**form.fields, "choose": self.sub})
            form = answer.form("allow")
            answer = browser.open(form.action, {**form.fields, "allow": form.buttons["allow"][0]})
        if answer.location is not None:
            return WebSignIn(answer.location, {})
        forms = answer.forms()
        if answer.status != 200 or not forms:
            raise EmulatorError("page_refused", answer.text[:500], answer.status)
        return WebSignIn(forms[0].action, forms[0].fields)

    def revoke(self) -> List[Notification]:
        """Stops using all apps with Apple (iOS Settings). Ends refresh tokens and codes.

        Returns the notification ``consent-revoked`` for each app. With a notification URL it has been posted once when
        this returns, and is posted again until the receiver returns 200.
        """
        return self._change("revoke-consent")

    def delete_account(self) -> List[Notification]:
        """Deletes the Apple Account. Returns the notifications ``account-deleted``, as `revoke` does."""
        return self._change("delete-account")

    def forwarding(self, enabled: bool) -> List[Notification]:
        """Lets the relay address forward mail, or not. Returns the notifications, as `revoke` does."""
        return self._change("enable-email-forwarding" if enabled else "disable-email-forwarding")

    def change_password(self) -> None:
        """Changes the password, which ends refresh tokens and codes without a notification."""
        self._apple._control.post(f"/emulator/users/{self.sub}/change-password")

    def _change(self, change: str) -> List[Notification]:
        answer = self._apple._control.post(f"/emulator/users/{self.sub}/{change}", {})
        return [_notification(sent) for sent in answer["notifications"]]


class People:
    """The people of the fake."""

    def __init__(self, apple: "FakeApple") -> None:
        self._apple = apple

    def new(
        self,
        first_name: Optional[str] = None,
        last_name: Optional[str] = None,
        *,
        email: Optional[str] = None,
        email_verified: Optional[bool] = None,
        hides_email: bool = False,
        real_user_status: Optional[int] = None,
        sub: Optional[str] = None,
    ) -> Person:
        """Makes a person.

        :param first_name: Jane by default, with the last name Appleseed. An empty string: none.
        :param email: By default made of the name, and unique. An empty string: none.
        :param hides_email: Apps see a relay address.
        :param real_user_status: 2 (likely real, the default), 1 (unknown), 0 (unsupported), -1 leaves the claim out.
        :param sub: By default a random ID in Apple's format.

        Raises `EmulatorError` ``user_exists`` or ``member_malformed``.
        """
        return self._person(
            self._apple._control.post(
                "/emulator/users",
                {
                    "first_name": first_name, "last_name": last_name, "email": email,
                    "email_verified": email_verified, "hide_email": hides_email,
                    "real_user_status": real_user_status, "sub": sub,
                },
            )
        )

    @property
    def default(self) -> Person:
        """The first person, Jane Appleseed, who has the same ``sub`` in every run."""
        return self.get("default")

    def get(self, sub: str) -> Person:
        """Returns the person as it is now. Raises `EmulatorError` ``user_not_found``."""
        return self._person(self._apple._control.get(f"/emulator/users/{sub}"))

    def all(self) -> List[Person]:
        """Returns all people, in the order in which they were made."""
        people: List[Person] = []
        while True:
            page = self._apple._control.get(f"/emulator/users?limit=1000&offset={len(people)}")
            people += [self._person(user) for user in page["users"]]
            if len(people) >= page["total"] or not page["users"]:
                return people

    def _person(self, user: JSON) -> Person:
        return Person(
            user["sub"], user.get("first_name"), user.get("last_name"), user.get("email"),
            user["identities"][0].get("relay_email"), user["hide_email"],
            user["email_forwarding"] == "enabled", user["is_deleted"], tuple(user["apps"]), self._apple,
        )


class Faults:
    """Faults of Apple's endpoints, and of the delivery of notifications."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def set(
        self,
        endpoint: Endpoint,
        *,
        status: Optional[int] = None,
        delay_ms: Optional[int] = None,
        body: Optional[
            Literal["html", "empty", "oversized", "malformed", "unrelated", "genuine", "no_keys", "unusable_keys"]
        ] = None,
        cut: Optional[Literal["before_work", "before_answer", "mid_body"]] = None,
        work: Optional[bool] = None,
        times: Optional[int] = None,
        cache_control: Optional[str] = None,
        etag: Optional[bool] = None,
    ) -> None:
        """Makes an endpoint fail until `clear`, or for this number of requests.

        :param status: 200 to 599. Without ``body`` the response has Apple's error, or none.
        :param delay_ms: Milliseconds before the response, at most 60000.
        :param cut: Closes the connection: before the request is carried out, after that but before the response,
            or in the middle of the response.
        :param work: Whether Apple carries the request out although the response is an error.
        :param cache_control: The header of the response, for ``keys`` only; so is ``etag``.

        Raises `EmulatorError`.
        """
        self._control.put(
            f"/emulator/faults/{endpoint}",
            {
                "status": status, "delay_ms": delay_ms, "body": body, "cut": cut, "work": work, "times": times,
                "cache_control": cache_control, "etag": etag,
            },
        )

    def clear(self, endpoint: Optional[Endpoint] = None) -> None:
        """Ends the fault of one endpoint, or all faults."""
        self._control.delete(f"/emulator/faults/{endpoint}" if endpoint else "/emulator/faults")

    def all(self) -> Dict[str, JSON]:
        """Returns the faults by endpoint, with the members of `set`."""
        return self._control.get("/emulator/faults")


class Clock:
    """The fake's time, which begins at the real time and never goes back."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def advance(self, seconds: int) -> int:
        """Moves the fake's time ahead. Tokens, codes and throttles expire by this time.

        Returns the fake's time, in seconds since 1970. The clock of your backend does not move.
        """
        now: int = self._control.post("/emulator/clock", {"advance_seconds": seconds})["now"]
        return now


@dataclass(frozen=True)
class Key:
    """A signing key of Apple."""

    kid: str
    published: bool
    signs: bool


class Keys:
    """Apple's signing keys."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def rotate(self) -> List[Key]:
        """Replaces all keys at once: old tokens have unknown keys from now on. Returns the keys."""
        return self._keys(self._control.post("/emulator/keys/rotate", {"mode": "at_once"}))

    def rotate_one_step(self) -> Tuple[Literal["publish", "sign", "retire"], str]:
        """Goes one step in Apple's order: publishes a new key, signs with it, retires the oldest key.

        Returns the step and the ID of the key.
        """
        answer = self._control.post("/emulator/keys/rotate", {"mode": "apple"})
        return answer["step"], answer["kid"]

    def all(self) -> List[Key]:
        """Returns all keys, also the retired ones."""
        return self._keys(self._control.get("/emulator/keys"))

    @staticmethod
    def _keys(answer: JSON) -> List[Key]:
        return [Key(key["kid"], key["published"], key["signs"]) for key in answer["keys"]]


class Outbox:
    """Apple's notifications on their way to the notification URL."""

    def __init__(self, control: Control) -> None:
        self._control = control

    def hold(self, holding: bool = True) -> None:
        """Keeps new notifications back until `release` or `shuffle`."""
        self._plan({"hold": holding})

    def duplicates(self, copies: int) -> None:
        """Posts each new notification this number of times, from 1 (the default) to 10."""
        self._plan({"copies": copies})

    def retries(self, retry: bool, first_retry_ms: Optional[int] = None) -> None:
        """Posts a notification again until the receiver returns 200 (the default), or not.

        :param first_retry_ms: Milliseconds until the first repetition (1000 by default), which then double.
        """
        self._plan({"retry": retry, "first_retry_ms": first_retry_ms})

    def release(self, order: Literal["in_order", "reversed", "shuffled"] = "in_order") -> List[Notification]:
        """Posts the held notifications in this order, and returns them with the status of each response."""
        answer = self._control.post("/emulator/outbox/release", {"order": order})
        return [_notification(sent) for sent in answer["notifications"]]

    def shuffle(self) -> List[Notification]:
        """Posts the held notifications in a random order."""
        return self.release("shuffled")

    def waiting(self) -> List[Notification]:
        """Returns the notifications that are held, and those that are to be posted again."""
        return [_notification(waiting) for waiting in self._control.get("/emulator/outbox")["waiting"]]

    def clear(self) -> None:
        """Forgets the waiting notifications."""
        self._control.delete("/emulator/outbox")

    def _plan(self, change: Mapping[str, Any]) -> None:
        # The fake replaces the whole plan.
        plan = self._control.get("/emulator/delivery-plan")
        self._control.put("/emulator/delivery-plan", {**plan, **change})


class FakeApple(Fake):
    """A fake Apple in a process of its own on 127.0.0.1, with TLS. A context manager.

    The process ends with the ``with`` block, and also if this process is killed.

    :param client_ids: The bundle ID first. All others are Services IDs, which sign users in on the web.
    :param team_id: 10 capital letters and digits.
    :param redirect_uris: For sign-in on the web. Unlike Apple, the fake also accepts http on this machine.
    :param notification_url: Receives notifications; it must be on this machine.
    :param refresh_interval: Seconds between two validations of one refresh token. Apple throttles a validation that
        comes sooner. 0: no limit.
    :param code_lifetime: Seconds until a code expires.
    :param port: 0 chooses a free port. Apple's names in a hosts file need 443, which needs root.
    :param start_timeout: Seconds after which a start has failed.

    Entering raises `EmulatorError` ``program_missing`` or ``start_failed``.
    """

    def __init__(
        self,
        *,
        client_ids: Sequence[str] = _DEFAULT_CLIENT_IDS,
        team_id: str = "SIWADEV000",
        redirect_uris: Sequence[str] = (),
        notification_url: Optional[str] = None,
        refresh_interval: int = 86_400,
        code_lifetime: int = 300,
        port: int = 0,
        start_timeout: float = 30.0,
    ) -> None:
        self.client_ids = tuple(client_ids)
        self.team_id = team_id
        self.key_id = _KEY_ID
        """The ID of the key that signs client secrets."""
        self._redirect_uris = tuple(redirect_uris)
        self._notification_url = notification_url
        self._refresh_interval = refresh_interval
        self._code_lifetime = code_lifetime
        self._wanted_port = port
        self._start_timeout = start_timeout

    def __enter__(self) -> "FakeApple":
        program = RunningProgram()
        folder = program.folder
        self.private_key_file = os.path.join(folder, f"AuthKey_{self.key_id}.p8")
        """The file with `private_key`. It is there until the fake ends."""
        arguments = ["--tls-self-signed", os.path.join(folder, "tls"), "--signing-key-file", self.private_key_file]
        arguments += ["--team-id", self.team_id]
        for client_id in self.client_ids:
            arguments += ["--client-id", client_id]
        for uri in self._redirect_uris:
            arguments += ["--redirect-uri", uri]
        if self._notification_url is not None:
            arguments += ["--notification-url", self._notification_url]
        arguments += ["--refresh-interval", str(self._refresh_interval)]
        arguments += ["--code-lifetime", str(self._code_lifetime)]
        self.port = program.start(self._wanted_port, arguments, self._start_timeout)
        self._program = program
        self.url = f"https://127.0.0.1:{self.port}"
        """The fake's own address."""
        self.ca_file = os.path.join(folder, "tls", "ca.pem")
        """The file of the certificate authority that signed the fake's certificate, in PEM."""
        self.log_file = program.log
        """The log of the process."""
        with open(self.private_key_file, encoding="ascii") as file:
            self.private_key = file.read()
            """The key that signs client secrets, in Apple's ``.p8`` format, for the backend under test."""
        self._control = Control(self.url, self.ca_file)
        self.people = People(self)
        self.faults = Faults(self._control)
        self.clock = Clock(self._control)
        self.keys = Keys(self._control)
        self.outbox = Outbox(self._control)
        return self

    @property
    def issuer(self) -> str:
        """The ``iss`` of the tokens: Apple's, ``https://appleid.apple.com``."""
        return f"https://{_APPLE_HOSTS[0]}"

    @property
    def client_id(self) -> str:
        """The bundle ID."""
        return self.client_ids[0]

    @property
    def services_id(self) -> str:
        """The first Services ID. Raises `EmulatorError` ``client_id_unknown`` if there is none."""
        if len(self.client_ids) < 2:
            raise EmulatorError("client_id_unknown", "the fake has no Services ID")
        return self.client_ids[1]

    def environment(self) -> Dict[str, str]:
        """Returns the variables that make a process trust the fake: OpenSSL, Python, Go and Ruby, requests, Node.js.

        The first two replace all other certificate authorities, so set them for the backend under test only.
        ``no_proxy`` and ``NO_PROXY`` add Apple's names and this machine to the value of this process, because a proxy
        would send the requests to Apple.
        """
        # Most libraries prefer the name in small letters.
        names = [os.environ.get("no_proxy") or os.environ.get("NO_PROXY"), *_APPLE_HOSTS, "127.0.0.1", "localhost"]
        # An asterisk excludes every name, but only if it stands alone.
        no_proxy = "*" if names[0] == "*" else ",".join(name for name in names if name)
        return {
            "no_proxy": no_proxy,
            "NO_PROXY": no_proxy,
            "SSL_CERT_FILE": self.ca_file,
            "REQUESTS_CA_BUNDLE": self.ca_file,
            "NODE_EXTRA_CA_CERTS": self.ca_file,
        }

    @contextlib.contextmanager
    def in_place_of_apple(self) -> Iterator[None]:
        """Resolves Apple's names to the fake, in this process until the end of the block, and trusts its certificate.

        For libraries with fixed URLs. ``socket.getaddrinfo`` resolves the two names to a placeholder address, and
        connections to this address go to the fake. It sets the variables of `environment`, so a client trusts the fake
        if it makes its TLS context in the block. A client with an earlier context (aiohttp makes it at import) needs
        ``ssl.create_default_context(cafile=apple.ca_file)``. Event loops that do not use Python's sockets (uvloop)
        connect to the real Apple.
        """
        resolve, connect, connect_ex = socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex
        # An address that nothing else uses, because some libraries connect to the port of the URL and not the port that
        # getaddrinfo returned.
        placeholder = f"127.65.{self.port >> 8}.{self.port & 255}"

        def look_up(host: Any, *rest: Any, **more: Any) -> Any:
            name = host.decode("ascii", "replace") if isinstance(host, bytes) else host
            return resolve(placeholder if name in _APPLE_HOSTS else host, *rest, **more)

        def target(address: Any) -> Any:
            is_apple = isinstance(address, tuple) and address[:2] == (placeholder, 443)
            return ("127.0.0.1", self.port) if is_apple else address

        changes = {
            "connect": lambda sock, address: connect(sock, target(address)),
            "connect_ex": lambda sock, address: connect_ex(sock, target(address)),
        }
        variables = self.environment()
        before = {name: os.environ.get(name) for name in variables}
        # urlopen keeps an opener, which has the proxies and the certificates of its first use.
        opener = getattr(urllib.request, "_opener", None)
        setattr(urllib.request, "_opener", None)
        socket.getaddrinfo = look_up
        for name, change in changes.items():
            setattr(socket.socket, name, change)
        os.environ.update(variables)
        try:
            yield
        finally:
            setattr(urllib.request, "_opener", opener)
            socket.getaddrinfo = resolve
            for name, original in (("connect", connect), ("connect_ex", connect_ex)):
                setattr(socket.socket, name, original)
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def client_secret(self, client_id: Optional[str] = None, *, lifetime: int = 3600) -> str:
        """Returns a client secret for the token endpoint, signed with the private key.

        :param client_id: The bundle ID by default.
        :param lifetime: Seconds; Apple accepts at most 15777000 (six months).
        """
        body = {"client_id": client_id or self.client_id, "lifetime": lifetime}
        secret: str = self._control.post("/emulator/client-secrets", body)["client_secret"]
        return secret

    def notify(
        self,
        type: Union[NotificationType, str],
        person: Optional[Person] = None,
        *,
        client_id: Optional[str] = None,
        url: Optional[str] = None,
        deliver: Optional[bool] = None,
        event_time: Optional[int] = None,
        event: Optional[JSON] = None,
        remove_event_members: Optional[Sequence[str]] = None,
        forgery: Optional[Forgery] = None,
    ) -> Notification:
        """Makes a notification, also one without its cause, and posts it once if a URL is known.

        :param type: Apple's types, or an invented one.
        :param person: The default person by default.
        :param url: Instead of the notification URL.
        :param deliver: ``False`` returns the notification without posting it.
        :param event_time: Verbatim; Apple uses milliseconds since 1970. Now by default.
        :param event: Members of the event to add or to replace.

        Raises `EmulatorError`.
        """
        body: JSON = {
            "type": type, "sub": person.sub if person else None, "client_id": client_id, "url": url,
            "deliver": deliver, "event_time": event_time, "event": event,
            "remove_event_members": list(remove_event_members) if remove_event_members else None,
        }
        return _notification(self._control.post("/emulator/notifications", {**body, **(forgery or {})}))

    def deliver(self, payload: str, *, url: Optional[str] = None) -> Optional[int]:
        """Posts a payload unchanged, for example one that was posted before.

        Returns the status of the response; ``None`` if there was none. Raises `EmulatorError`
        ``notification_url_missing``.
        """
        answer = self._control.post("/emulator/deliveries", {"payload": payload, "url": url})
        status: Optional[int] = answer.get("status")
        return status

    def notify_at(self, url: Optional[str]) -> None:
        """Sets the notification URL, which must be on this machine. ``None``: notifications are only returned."""
        if url is None:
            self._control.delete("/emulator/notification-url")
        else:
            self._control.put("/emulator/notification-url", {"url": url})

    def redirect_to(self, *uris: str, client_id: Optional[str] = None) -> None:
        """Replaces the redirect URIs for sign-in on the web. Raises `EmulatorError` ``redirect_uri_refused``."""
        self._control.put(
            "/emulator/redirect-uris",
            {"client_id": client_id or self.client_ids[-1], "redirect_uris": list(uris)},
        )

    def counters(self) -> Dict[str, int]:
        """Returns the numbers of requests and outcomes since the start or the last `reset`.

        For example ``exchanges``, ``refreshes``, ``revocations``, ``token_requests``, ``token_refusals``,
        ``key_set_requests``, ``client_secrets_refused``, ``deliveries``.
        """
        return self._control.get("/emulator/counters")

    def reset(self) -> None:
        """Restores the state of the start: the default person, the first keys, the real time, no faults."""
        self._control.post("/emulator/reset")
