"""The calls of siwa."""

import dataclasses
import os
import ssl
from datetime import datetime, timezone
from typing import Any, Callable, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union
from urllib.parse import quote, urlencode

from . import models
from .decoding import decode, time_text
from .errors import SiwaError
from .events import CursorStore, Events
from .forms import LINK, flattened, given, json_bytes, sign_in_members, user_members
from .tokens import AccessTokens, bearer_token, check_audience_and_scopes
from .transport import Clock, Transport, log
from .webhooks import verified_event, webhook_keys

T = TypeVar("T")
_EVENT_OF_REASON = {models.CredentialReason.APPLE_ACCOUNT_DELETED: models.EventType.ACCOUNT_DELETED,
                    models.CredentialReason.ERASED: models.EventType.ACCOUNT_ERASED}
Time = Union[datetime, str]
"""An aware datetime, or its text in RFC 3339."""


class SiwaClient:
    """A client of one siwa service, for one app. Threads may share it. It keeps no connection open.

    Each method raises SiwaError. Methods repeat a call after a lost response, a 429 or a 5xx: after `Retry-After`, or
    else after 1 and 2 seconds. If siwa asks for more than 5 seconds, the error has `retry_after`. Calls whose second
    execution would change something (`disable`, `enable`, `sign_out`, `app_flip`) are only repeated if siwa certainly
    did not execute them.

    url, api_key, client_id, issuer, webhook_secrets: by default SIWA_URL, SIWA_API_KEY, SIWA_CLIENT_ID (the app's
    bundle ID), SIWA_ISSUER (the `iss` of access tokens; by default the URL) and SIWA_WEBHOOK_SECRETS (several with
    spaces between them). timeout: seconds for one attempt, whole. attempts: how often a call is made at most.
    ssl_context: for a private certificate authority. Raises ValueError for a missing or malformed value.
    """

    def __init__(self, url: Optional[str] = None, api_key: Optional[str] = None, *, client_id: Optional[str] = None,
                 issuer: Optional[str] = None, webhook_secrets: Optional[str] = None, timeout: float = 12,
                 attempts: int = 3, ssl_context: Optional[ssl.SSLContext] = None, clock: Optional[Clock] = None) -> None:
        url, api_key = url or os.environ.get("SIWA_URL", ""), api_key or os.environ.get("SIWA_API_KEY", "")
        missing = [name for name, value in (("SIWA_URL", url), ("SIWA_API_KEY", api_key)) if not value]
        if missing:
            raise ValueError("missing environment variables: " + ", ".join(missing))
        self._clock = clock or Clock()
        self._transport = Transport(url, api_key, timeout, attempts, ssl_context, self._clock)
        self._client_id = client_id or os.environ.get("SIWA_CLIENT_ID", "")
        secrets = webhook_secrets or os.environ.get("SIWA_WEBHOOK_SECRETS", "")
        self._webhook_keys = webhook_keys(secrets) if secrets else []
        issuer = issuer or os.environ.get("SIWA_ISSUER") or url.rstrip("/")
        self._tokens = AccessTokens(self._transport, issuer, self._clock)

    def check(self) -> None:
        """Raises SiwaError if siwa refuses the key or the client ID, or if the URL is not siwa's, and ValueError without
        a client ID. If siwa does not respond, it logs a warning and returns, so that the backend can start."""
        try:
            self.state("check")  # unknown to Apple, which is no error
        except SiwaError as error:
            if not error.is_temporary:
                error.detail += " Check SIWA_URL and SIWA_CLIENT_ID." if error.status == 404 else ""
                raise
            log.warning("the backend starts without siwa: %s", error)

    # Signing in

    def make_nonce(self) -> models.Nonce:
        """Makes a nonce for one sign-in within ten minutes. The app gives `nonce_sha256` to Apple, and posts `nonce`
        to the backend together with the token."""
        return self._read(models.Nonce, "POST", "/v1/nonces", {})

    def sign_in(self, form: Any, *, create: bool = True, minted_nonce: bool = True) -> models.SignInOutcome:
        """Verifies the identity token in the app's form, and returns the user's account.

        form: the app's JSON, in siwa's names or in those of a library (README.md). create: False signs in only users
        who have an account. minted_nonce: False if the backend makes its own nonces and accepts each only once.

        Errors without a request: `member_missing`, `nonce_missing`. From siwa: the codes of a refused token (401),
        `credential_revoked` and `account_disabled` (403), `account_not_found` (404).
        A sign-in is repeated like any other call. After a lost response the repetition can get `nonce_used`; the app
        then starts again with a new nonce.
        """
        members = {**sign_in_members(form, minted_nonce), **user_members(form)}
        return self._read(models.SignInOutcome, "POST", "/v1/sign-ins",
                          {**members, **self._app(), **({} if create else {"create": False})})

    def verify(self, form: Any, *, minted_nonce: bool = True) -> models.VerifiedIdentity:
        """Verifies the identity token in the app's form, and stores nothing. The errors are those of sign_in."""
        return self._read(models.VerifiedIdentity, "POST", "/v1/identity-tokens/verify",
                          {**sign_in_members(form, minted_nonce), **self._app()})

    def web_result(self, code: str) -> models.SignInOutcome:
        """Redeems the one-time code of a sign-in on the web, within two minutes. Error: `web_code_invalid`."""
        return self._read(models.SignInOutcome, "POST", "/v1/web/results", {"code": code})

    # Accounts

    def account(self, account_id: str) -> models.Account:
        """Returns an account. Error: `account_not_found` (404)."""
        return self._read(models.Account, "GET", _account(account_id))

    def account_of(self, sub: str, client_id: Optional[str] = None) -> models.Account:
        """Returns the account of Apple's user ID. Error: `account_not_found` (404)."""
        return self._read(models.Account, "GET", _with_query("/v1/accounts", {**self._app(client_id), "sub": sub}))

    def find_accounts(
            self, *, email: Optional[str] = None, name: Optional[str] = None, grant_id: Optional[str] = None,
            client_id: Optional[str] = None, state: Optional[str] = None, reason: Optional[str] = None,
            disabled: Optional[bool] = None, linked: Optional[bool] = None, apple_token: Optional[bool] = None,
            created_after: Optional[Time] = None, after: Optional[str] = None, limit: Optional[int] = None,
    ) -> models.AccountPage:
        """Searches accounts that match all arguments, newest first. A page has `limit` accounts, at most 100. For the
        next page pass `after=page.cursor` and the same arguments. docs/api.md explains the arguments."""
        parameters = {argument: value for argument, value in locals().items() if argument != "self"}
        return self._read(models.AccountPage, "GET", _with_query("/v1/accounts", parameters))

    def state(self, sub: str, client_id: Optional[str] = None) -> models.Credential:
        """Returns the state of the user's credential. For an unknown user it is `notFound`, and no error."""
        return self._read(models.Credential, "GET", _with_query(_path("credential", sub), self._app(client_id)))

    def states(self, subs: Sequence[str], client_id: Optional[str] = None) -> List[models.CredentialOfSubject]:
        """Returns the states of any number of users, in the order of `subs`. One request asks for 1,000 of them."""
        return [credential for start in range(0, len(subs), 1000) for credential in self._read(
            models.CredentialList, "POST", "/v1/credentials/query",
            {**self._app(client_id), "subs": list(subs[start:start + 1000])}).credentials]

    def disable(self, account_id: str, reason: str, until: Optional[Time] = None) -> models.Account:
        """Disables an account in siwa. reason: a value of DisablingReason. until: the time from which the account is
        enabled again. Errors: `account_not_found` (404), `disabling_over` (409)."""
        return self._read(models.Account, "POST", _account(account_id) + "/disable",
                          {"reason": reason, **({"until": _text(until)} if until else {})}, can_repeat=False)

    def enable(self, account_id: str) -> models.Account:
        """Enables a disabled account. Error: `account_not_found` (404)."""
        return self._read(models.Account, "POST", _account(account_id) + "/enable", {}, can_repeat=False)

    def sign_out(self, account_id: str, *, google: bool = False) -> models.Account:
        """Signs a user out everywhere: all receivers of events end the user's sessions. google: also ends the links
        with Google. Error: `account_not_found` (404)."""
        # A repetition would also end the sessions that began in between.
        return self._read(models.Account, "POST", _account(account_id) + "/sign-out",
                          {"google": True} if google else {}, can_repeat=False)

    def delete(self, account_id: str) -> models.Erasure:
        """Erases an account, and revokes its tokens at Apple. A repetition returns the same report. If the report
        says `user_must_revoke`, show its `instructions` to the user. Error: `account_not_found` (404)."""
        return self._read(models.ErasureResponse, "DELETE", _account(account_id), timeout=30).erasure

    def erasure(self, erasure_id: str) -> models.Erasure:
        """Returns the report of an erasure as it is now. Error: `erasure_not_found` (404)."""
        return self._read(models.ErasureResponse, "GET", _path("erasure", erasure_id)).erasure

    def grants(self, account_id: str) -> List[models.Grant]:
        """Returns the OAuth clients that have access to the account, such as Google. Error: `account_not_found`."""
        return self._read(models.Grants, "GET", _account(account_id) + "/grants").grants

    def end_grant(self, account_id: str, grant_id: str) -> None:
        """Ends one grant with all its tokens. Errors: `account_not_found`, `grant_not_found` (404). After a lost
        response, the repetition raises `grant_not_found`: the grant has ended."""
        self._transport.call("DELETE", f"{_account(account_id)}/grants/{_segment('grant', grant_id)}")

    # App Attest and App Flip

    def make_challenge(self, purpose: str, client_id: Optional[str] = None) -> models.Challenge:
        """Makes a challenge for App Attest, valid for five minutes. purpose: `attestation` or `assertion`."""
        return self._read(models.Challenge, "POST", "/v1/app-attest/challenges",
                          {"purpose": purpose, **self._app(client_id)})

    def register_key(self, form: Any, client_id: Optional[str] = None) -> models.KeyRegistration:
        """Registers a key of the app. form: the app's JSON with `key_id`, `attestation` and `challenge`.
        Error: `attestation_invalid` (401) with `cause` and `re_attest`, both for the app."""
        return self._read(models.KeyRegistration, "POST", "/v1/app-attest/keys",
                          {**given(form, "key_id", "attestation", "challenge"), **self._app(client_id)})

    def app_flip_prompt(self, form: Any, *, account_id: Optional[str] = None,
                        authenticated_at: Optional[Time] = None) -> models.AppFlipPromptResponse:
        """Returns the texts of the app's sheet, or the URL to open for a link that cannot succeed.

        form: the parameters of Google's universal link. account_id, authenticated_at: those of the session, never the
        app's; without them only the link is checked.
        """
        return self._read(models.AppFlipPromptResponse, "POST", "/v1/oauth/app-flip/prompt",
                          {**given(form, *LINK), **_session(account_id, authenticated_at)})

    def app_flip(self, form: Any, *, account_id: Optional[str] = None,
                 authenticated_at: Optional[Time] = None) -> models.AppFlipResponse:
        """Answers Google with the user's decision, and returns the URL that the app opens.

        form: the parameters of the link, `decision` (`granted`, `denied` or `cancelled`), and optionally
        `granted_scopes` and a proof of App Attest. Without account_id, `granted` needs a fresh `identity_token` with
        its `nonce` from make_nonce.
        """
        members = {**given(form, *LINK, "decision", "granted_scopes", "attestation", "app_version"),
                   **_session(account_id, authenticated_at)}
        # An empty text grants no scope, and an absent one grants all.
        if isinstance(form, Mapping) and form.get("granted_scopes") == "":
            members["granted_scopes"] = ""
        if not account_id and "identity_token" in given(form, "identity_token"):
            members.update({name: value for name, value in sign_in_members(form, True).items()
                            if name != "authorization_code"})
        return self._read(models.AppFlipResponse, "POST", "/v1/oauth/app-flip", members, can_repeat=False)

    # Events

    def verify_webhook(self, headers: Mapping[str, str], raw_body: bytes) -> models.Event:
        """Verifies a webhook, and returns its event. An event can come twice: keep its `id` for 8 days.

        headers: those of the request, in any case. raw_body: the bytes as they arrived. Respond with 2xx when the
        event is stored, otherwise siwa sends it again. Errors: `body_too_large` (413), `webhook_headers_invalid`,
        `webhook_time_invalid`, `event_malformed` (400), `webhook_signature_invalid` (401). Raises ValueError if the
        client has no secret.
        """
        return verified_event(headers, raw_body, self._webhook_keys or webhook_keys(""), self._clock.now())

    def events(self, cursor_store: CursorStore, *, resync: Optional[Callable[[], object]] = None, wait: int = 30) -> Events:
        """Iterates over all events, for ever: see Events. wait: seconds that siwa waits for an event, 0 to 30."""
        if not hasattr(cursor_store, "load") or not hasattr(cursor_store, "save") or not 0 <= wait <= 30:
            raise ValueError("cursor_store needs load() and save(cursor), such as FileCursor, and wait is 0 to 30")
        return Events(self._transport, self._clock, cursor_store, resync, wait)

    def missed_events(self, users: Mapping[str, Tuple[str, Optional[datetime]]]) -> Iterator[models.Event]:
        """Reads the states of users, and returns the events that would have led to them. For `resync` of events.

        users: by sub, the account ID and the latest `since` of the user's sessions, or None without sessions. The
        events have no `id`. Each account has `account_disabled` or `account_enabled`; a state that is not `authorized`
        also has `credential_revoked`, `account_deleted` or `account_erased`. There is no `sessions_ended`: its time is
        `sessions_ended_at` of the account. Raises TypeError at once for users of another form.
        """
        if not isinstance(users, Mapping) or not all(map(_is_account_and_since, users.values())):
            raise TypeError("users must be {sub: (account_id, since)}; since is a datetime with a time zone, or None")
        return self._missed_events(users)

    def _missed_events(self, users: Mapping[str, Tuple[str, Optional[datetime]]]) -> Iterator[models.Event]:
        now = datetime.fromtimestamp(self._clock.now(), timezone.utc)
        for credential in self.states(list(users)):
            account_id, since = users[credential.sub]
            disabling = models.EventType.ACCOUNT_DISABLED if credential.account_disabled else models.EventType.ACCOUNT_ENABLED
            event = models.Event("", disabling, "", now, now, credential.sub, account_id, credential.client_id)
            yield event
            # For a user whom siwa does not know, the sessions from before the query end.
            moment = credential.since or since
            if credential.state != models.CredentialState.AUTHORIZED and moment:
                kind = _EVENT_OF_REASON.get(credential.reason or "", models.EventType.CREDENTIAL_REVOKED)
                yield dataclasses.replace(event, type=kind, occurred_at=moment, reason=credential.reason)

    # OAuth access tokens

    def introspect(self, bearer: Optional[str], audience: str, scopes: Sequence[str] = ()) -> models.IntrospectionResponse:
        """Asks siwa whether an access token is valid now. Arguments and errors are those of verify_token, and
        `token_inactive` (401). Knows at once of a withdrawn consent."""
        body = urlencode({"token": bearer_token(bearer)}).encode()
        answer = self._transport.call("POST", "/oauth/introspect", body, "application/x-www-form-urlencoded")
        token = _decoded(models.IntrospectionResponse, answer)
        # A refresh token has no token_type. No API accepts refresh tokens.
        if not token.active or token.token_type != "Bearer":
            raise SiwaError("token_inactive", 401, "The token has ended, or is not an access token.")
        check_audience_and_scopes(token, audience, scopes)
        return token

    def verify_token(self, bearer: Optional[str], audience: str, scopes: Sequence[str] = ()) -> models.IntrospectionResponse:
        """Verifies an access token by siwa's public keys, without a request for each token (RFC 9068). A token that
        has ended is accepted until it expires, at most `access_token_lifetime` later: see introspect.

        bearer: the header `Authorization`, or None. audience: the API's own name, compared with `aud`. scopes: all of
        them are needed. Needs siwa-client[tokens].

        Errors: `token_missing` and the codes of a refused token (401), `scope_missing` (403), `keys_unavailable`
        (503).
        """
        return self._tokens.verify(bearer_token(bearer), audience, scopes)

    def _app(self, client_id: Optional[str] = None) -> Any:
        client_id = client_id or self._client_id
        if not client_id:
            raise ValueError("missing environment variables: SIWA_CLIENT_ID")
        return {"client_id": client_id}

    def _read(self, model: Type[T], method: str, target: str, members: Any = None, **options: Any) -> T:
        body = None if members is None else json_bytes(members)
        return _decoded(model, self._transport.call(method, target, body, **options))


def _is_account_and_since(value: Any) -> bool:
    account_id, since = value if isinstance(value, (tuple, list)) and len(value) == 2 else (None, None)
    return isinstance(account_id, str) and (since is None or isinstance(since, datetime) and since.tzinfo is not None)


def _decoded(model: Type[T], value: Any) -> T:
    try:
        return decode(model, value)
    except ValueError as error:
        raise SiwaError("unexpected_response", None, f"{model.__name__}: {error}") from None


def _segment(kind: str, identifier: str) -> str:
    # A proxy would remove these segments, and the request would have another path.
    if identifier in ("", ".", ".."):
        raise SiwaError(f"{kind}_not_found", 404, "The ID would change the path of the request.")
    return quote(identifier, safe="")


def _path(kind: str, identifier: str) -> str:
    return f"/v1/{kind}s/{_segment(kind, identifier)}"


def _account(account_id: str) -> str:
    return _path("account", account_id)


def _with_query(path: str, parameters: Mapping[str, Any]) -> str:
    texts = {name: str(value).lower() if isinstance(value, bool) else str(_text(value))
             for name, value in sorted(parameters.items()) if value is not None}
    return path + "?" + urlencode(texts, quote_via=quote, safe="")


def _session(account_id: Optional[str], authenticated_at: Optional[Time]) -> Any:
    return given({"account_id": account_id, "authenticated_at": _text(authenticated_at)}, "account_id", "authenticated_at")


def _text(value: Any) -> Any:
    return time_text(value) if isinstance(value, datetime) else value
