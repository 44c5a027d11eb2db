"""The models of siwa's responses. scripts/client-models makes this file from docs/openapi.yaml.

A member that siwa leaves out is None. Times are in UTC, with milliseconds. Texts that have a class of values below
can get further values without a new version.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, List, Optional


class CredentialReason:
    """Known values."""

    SIGNED_IN: Final = "signed_in"
    CONSENT_REVOKED: Final = "consent_revoked"
    APPLE_ACCOUNT_DELETED: Final = "apple_account_deleted"
    REFRESH_TOKEN_REJECTED: Final = "refresh_token_rejected"
    ERASED: Final = "erased"


class CredentialSource:
    """Known values."""

    SIGN_IN: Final = "sign_in"
    NOTIFICATION: Final = "notification"
    DAILY_CHECK: Final = "daily_check"
    ERASURE: Final = "erasure"


class CredentialState:
    """Known values. The values of `getCredentialState`. The user may stay signed in only with `authorized`."""

    AUTHORIZED: Final = "authorized"
    REVOKED: Final = "revoked"
    NOT_FOUND: Final = "notFound"


class DisablingReason:
    """Known values. `abuse`: the user broke the rules of the app; `security`: another person may use the account;
    `requested`: the user asked for it.
    """

    ABUSE: Final = "abuse"
    FRAUD: Final = "fraud"
    SECURITY: Final = "security"
    PAYMENT: Final = "payment"
    LEGAL: Final = "legal"
    REQUESTED: Final = "requested"
    OTHER: Final = "other"


class EmailForwarding:
    """Known values. Apple's forwarding of e-mail from the relay address."""

    ENABLED: Final = "enabled"
    DISABLED: Final = "disabled"
    UNKNOWN: Final = "unknown"


class ErasureOutcome:
    """Known values."""

    PENDING: Final = "pending"
    REVOKED_AND_PROVEN: Final = "revoked_and_proven"
    NOT_REVOKED: Final = "not_revoked"


class ErasureState:
    """Known values."""

    IN_PROGRESS: Final = "in_progress"
    COMPLETED: Final = "completed"


class EventType:
    """Known values."""

    ACCOUNT_CREATED: Final = "account_created"
    CREDENTIAL_AUTHORIZED: Final = "credential_authorized"
    CREDENTIAL_REVOKED: Final = "credential_revoked"
    EMAIL_CHANGED: Final = "email_changed"
    EMAIL_FORWARDING_CHANGED: Final = "email_forwarding_changed"
    PROFILE_CHANGED: Final = "profile_changed"
    ACCOUNT_DELETED: Final = "account_deleted"
    ACCOUNT_ERASED: Final = "account_erased"
    ACCOUNT_TRANSFERRED: Final = "account_transferred"
    GRANT_CREATED: Final = "grant_created"
    GRANT_REVOKED: Final = "grant_revoked"
    ACCOUNT_DISABLED: Final = "account_disabled"
    ACCOUNT_ENABLED: Final = "account_enabled"
    SESSIONS_ENDED: Final = "sessions_ended"
    TOKEN_REVOKED: Final = "token_revoked"


class GrantEndReason:
    """Known values."""

    UNLINKED: Final = "unlinked"
    CLIENT_REVOKED: Final = "client_revoked"
    TOKEN_REUSED: Final = "token_reused"
    REPLACED: Final = "replaced"
    GOOGLE_REVOKED: Final = "google_revoked"
    CONSENT_REVOKED: Final = "consent_revoked"
    APPLE_ACCOUNT_DELETED: Final = "apple_account_deleted"
    ERASED: Final = "erased"
    SIGNED_OUT: Final = "signed_out"


class RefreshTokenCause:
    """Known values. The reason why there is no refresh token. Only with `unavailable`."""

    NO_SEALING_KEY: Final = "no_sealing_key"
    NO_SIGNING_KEY: Final = "no_signing_key"
    CODE_REJECTED: Final = "code_rejected"
    CODE_EXPIRED: Final = "code_expired"
    EXCHANGE_UNCERTAIN: Final = "exchange_uncertain"
    CLIENT_REJECTED: Final = "client_rejected"
    IDENTITY_MISMATCH: Final = "identity_mismatch"
    REJECTED: Final = "rejected"
    CREDENTIAL_REVOKED: Final = "credential_revoked"
    TRANSFERRED: Final = "transferred"
    SEALED_UNREADABLE: Final = "sealed_unreadable"


class RefreshTokenState:
    """Known values. Absent when no authorization code was ever posted."""

    HELD: Final = "held"
    PENDING: Final = "pending"
    UNAVAILABLE: Final = "unavailable"


class RevocationCause:
    """Known values. The reason why the revocation of a token is not proven, or why there was no token: a cause of
    `refresh_token_cause`, one of Apple's error codes, a failure of the request to Apple, or one of these values.
    """

    STILL_VALID: Final = "still_valid"
    NO_TOKEN: Final = "no_token"
    UNREACHABLE: Final = "unreachable"
    CIRCUIT_OPEN: Final = "circuit_open"
    TIMED_OUT: Final = "timed_out"
    CONNECTION_LOST: Final = "connection_lost"
    ANSWER_UNUSABLE: Final = "answer_unusable"
    SERVER_FAILED: Final = "server_failed"
    THROTTLED: Final = "throttled"
    SIGNING_FAILED: Final = "signing_failed"
    INVALID_CLIENT: Final = "invalid_client"
    INVALID_GRANT: Final = "invalid_grant"
    INVALID_REQUEST: Final = "invalid_request"
    UNAUTHORIZED_CLIENT: Final = "unauthorized_client"
    UNSUPPORTED_GRANT_TYPE: Final = "unsupported_grant_type"
    INVALID_SCOPE: Final = "invalid_scope"


@dataclass(frozen=True)
class Account:
    """See Account in siwa's OpenAPI document."""

    id: str
    """Opaque and stable."""
    team_id: str
    """An Apple developer team."""
    sub: str
    """`sub`: Apple's user ID for one team. It is compared as bytes."""
    email_forwarding: str
    """Apple's forwarding of e-mail from the relay address."""
    created_at: datetime
    """RFC 3339 in UTC, always with milliseconds."""
    credentials: List[Credential]
    """One credential for each app that the caller may see."""
    email: Optional[str] = None
    """The e-mail address or the private relay address."""
    email_verified: Optional[bool] = None
    """Apple has verified the address."""
    is_private_email: Optional[bool] = None
    """Absent when it is not known."""
    first_name: Optional[str] = None
    """The first name that the app posted at the first sign-in."""
    last_name: Optional[str] = None
    """The last name that the app posted at the first sign-in."""
    real_user_status: Optional[int] = None
    """0 unsupported, 1 unknown, 2 likely real. Apple may add numbers."""
    disabled: Optional[Disabled] = None
    """Present only while the account is disabled."""
    sessions_ended_at: Optional[datetime] = None
    """Time at which the user was last signed out everywhere. Absent when never."""
    last_sign_in_at: Optional[datetime] = None
    """Time of the last sign-in to one of the apps that the caller may see."""


@dataclass(frozen=True)
class AccountPage:
    """See AccountPage in siwa's OpenAPI document."""

    accounts: List[Account]
    """The newest first. Can be empty although more accounts match."""
    has_more: bool
    """True if there is a next page."""
    cursor: Optional[str] = None
    """The `after` of the next page. Absent on the last page."""


@dataclass(frozen=True)
class AppCheckResult:
    """Result of judging the app. Absent where App Check is off."""

    kind: str
    """The kind of the request."""
    cause: Optional[str] = None
    """Reason why the proof does not hold, with `invalid`."""
    validation_category: Optional[int] = None
    """`apple_validation_category_01` of iOS 27 and later."""
    bundle_version: Optional[str] = None
    """`apple_bundle_version_01` of iOS 27 and later."""


@dataclass(frozen=True)
class AppFlipPrompt:
    """The texts of the consent page as plain text, in the order in which they are shown."""

    language: str
    """The language of all texts (BCP 47)."""
    direction: str
    """`ltr` or `rtl`."""
    title: str
    """The heading of the sheet."""
    purpose: List[str]
    """Paragraphs below the heading."""
    scopes_title: str
    """The heading of the list of scopes."""
    scopes: List[AppFlipPromptScope]
    """The scopes of the link, in its order."""
    notes: List[AppFlipPromptNote]
    """Sentences below the scopes: the authorization, Google's privacy policy, where to unlink."""
    agree: str
    """The label of the button for the decision `granted`."""
    cancel: str
    """The label of the button for the decision `denied`."""
    account: Optional[AppFlipPromptAccount] = None
    """The account that is signed in. Absent without `account_id`."""
    optional_scopes_note: Optional[str] = None
    """Present if the user can leave out some of the scopes: says how."""


@dataclass(frozen=True)
class AppFlipPromptAccount:
    """The account that is signed in. Absent without `account_id`."""

    label: str
    """"Signed in as", in the language of the sheet."""
    title: str
    """The name, or the address of a user without a name."""
    subtitle: Optional[str] = None
    """The address of a user who has a name."""


@dataclass(frozen=True)
class AppFlipPromptLink:
    """A link to a page of Google."""

    text: str
    """The part of the sentence that is the link."""
    url: str
    """The target."""


@dataclass(frozen=True)
class AppFlipPromptNote:
    """A sentence, with at most one link in it."""

    text: str
    """The sentence. It contains the text of the link."""
    link: Optional[AppFlipPromptLink] = None
    """A link to a page of Google."""


@dataclass(frozen=True)
class AppFlipPromptResponse:
    """The contents of the sheet (`prompt`), or the URL that leads back to Google (`redirect_to`), never both."""

    outcome: str
    """`prompt` when the app asks the user; otherwise the cause for which it does not."""
    prompt: Optional[AppFlipPrompt] = None
    """The texts of the consent page as plain text, in the order in which they are shown."""
    redirect_to: Optional[str] = None
    """Open this URL unchanged."""
    message: Optional[str] = None
    """A sentence for the user, with `redirect_to`."""
    detail: Optional[str] = None
    """With `invalid_request`: the fault of the link, for the developer."""
    sign_in_again: Optional[bool] = None
    """With `redirect_to`: true if the user can be linked after a new sign-in with Apple in the app."""


@dataclass(frozen=True)
class AppFlipPromptScope:
    """A scope that the link requests."""

    scope: str
    """The name, for `granted_scopes`."""
    text: str
    """What the scope allows."""
    optional: bool
    """The user can leave the scope out."""
    detail: Optional[str] = None
    """For `email`: the address that is shared."""


@dataclass(frozen=True)
class AppFlipResponse:
    """The URL that leads back to Google, and what the app can tell the user."""

    redirect_to: str
    """Open this URL unchanged."""
    outcome: str
    """`code` when Google gets an authorization code; otherwise the cause."""
    message: str
    """A sentence for the user. In English it is also the `error_description` of `redirect_to`."""
    detail: Optional[str] = None
    """With `invalid_request`: the fault of the request, for the developer."""
    code: Optional[str] = None
    """The authorization code, for an Android app: only with a redirect URI of the project."""


@dataclass(frozen=True)
class AttestedKey:
    """A key of App Attest."""

    key_id: str
    """The ID of the key in base64."""
    client_id: str
    """The bundle ID of the app that owns the key."""
    team_id: str
    """The team of the app."""
    environment: str
    """The environment of the attestation."""
    created_at: datetime
    """RFC 3339 in UTC, always with milliseconds."""
    validation_category: Optional[int] = None
    """`apple_validation_category_01` of iOS 27 and later, in this attestation."""
    bundle_version: Optional[str] = None
    """`apple_bundle_version_01` of iOS 27 and later, in this attestation."""


@dataclass(frozen=True)
class Challenge:
    """See Challenge in siwa's OpenAPI document."""

    challenge: str
    """The challenge. The app hashes the UTF-8 bytes of this text, and decodes nothing."""
    expires_at: datetime
    """RFC 3339 in UTC, always with milliseconds."""


@dataclass(frozen=True)
class Credential:
    """See Credential in siwa's OpenAPI document."""

    client_id: str
    """The app's primary client ID."""
    state: str
    """The values of `getCredentialState`. The user may stay signed in only with `authorized`."""
    reason: Optional[str] = None
    source: Optional[str] = None
    since: Optional[datetime] = None
    """RFC 3339 in UTC, always with milliseconds."""
    refresh_token: Optional[str] = None
    """Absent when no authorization code was ever posted."""
    refresh_token_cause: Optional[str] = None
    """The reason why there is no refresh token. Only with `unavailable`."""
    account_disabled: Optional[bool] = None
    """The account is disabled here, whatever the state at Apple. Absent otherwise."""


@dataclass(frozen=True)
class CredentialList:
    """See CredentialList in siwa's OpenAPI document."""

    credentials: List[CredentialOfSubject]
    """In the order of the query."""


@dataclass(frozen=True)
class CredentialOfSubject:
    """See CredentialOfSubject in siwa's OpenAPI document."""

    client_id: str
    """The app's primary client ID."""
    state: str
    """The values of `getCredentialState`. The user may stay signed in only with `authorized`."""
    sub: str
    """The `sub` of the request."""
    reason: Optional[str] = None
    source: Optional[str] = None
    since: Optional[datetime] = None
    """RFC 3339 in UTC, always with milliseconds."""
    refresh_token: Optional[str] = None
    """Absent when no authorization code was ever posted."""
    refresh_token_cause: Optional[str] = None
    """The reason why there is no refresh token. Only with `unavailable`."""
    account_disabled: Optional[bool] = None
    """The account is disabled here, whatever the state at Apple. Absent otherwise."""


@dataclass(frozen=True)
class Disabled:
    """Present only while the account is disabled."""

    reason: str
    """`abuse`: the user broke the rules of the app; `security`: another person may use the account; `requested`: the
    user asked for it.
    """
    since: datetime
    """By this service's clock."""
    until: Optional[datetime] = None
    """Time from which the account is enabled again. Absent without an end."""


@dataclass(frozen=True)
class ErasedToken:
    """See ErasedToken in siwa's OpenAPI document."""

    client_id: str
    """The client ID to which the token was issued."""
    outcome: str
    attempts: int
    """Number of requests to Apple."""
    cause: Optional[str] = None
    """The reason why the revocation of a token is not proven, or why there was no token: a cause of
    `refresh_token_cause`, one of Apple's error codes, a failure of the request to Apple, or one of these values.
    """


@dataclass(frozen=True)
class Erasure:
    """See Erasure in siwa's OpenAPI document."""

    id: str
    account_id: str
    """Opaque and stable."""
    state: str
    requested_at: datetime
    """RFC 3339 in UTC, always with milliseconds."""
    personal_data: str
    """Always `erased`: the data is deleted before the first response."""
    tokens: List[ErasedToken]
    """The Apple tokens that are revoked."""
    user_must_revoke: bool
    """True if Apple did not accept a revocation: the user must revoke the authorization in Apple's settings."""
    finished_at: Optional[datetime] = None
    """RFC 3339 in UTC, always with milliseconds."""
    user_must_revoke_at: Optional[List[ManualRevocation]] = None
    """The apps that the user must remove."""
    instructions: Optional[str] = None
    """Instructions for a user who must revoke the authorization at Apple."""


@dataclass(frozen=True)
class ErasureResponse:
    """See ErasureResponse in siwa's OpenAPI document."""

    erasure: Erasure


@dataclass(frozen=True)
class Event:
    """See Event in siwa's OpenAPI document."""

    id: str
    """Stays the same when the event is read again."""
    type: str
    team_id: str
    """An Apple developer team."""
    occurred_at: datetime
    """By Apple's clock."""
    recorded_at: datetime
    """By this service's clock."""
    sub: Optional[str] = None
    """Absent for an erased account."""
    account_id: Optional[str] = None
    """Opaque and stable."""
    client_id: Optional[str] = None
    """A bundle ID or a Services ID."""
    reason: Optional[str] = None
    """With `grant_revoked` and `token_revoked`, the reason of the grant."""
    source: Optional[str] = None
    grant: Optional[GrantOfEvent] = None
    """The OAuth grant that was created or has ended. Only with `grant_created`, `grant_revoked` and `token_revoked`."""


@dataclass(frozen=True)
class EventPage:
    """See EventPage in siwa's OpenAPI document."""

    events: List[Event]
    """In commit order."""
    cursor: str
    """The `after` of the next page."""
    has_more: bool
    """True if another page can be read at once."""


@dataclass(frozen=True)
class GoogleEvent:
    """The security event of Google that ended the grant."""

    type: str
    """The last part of the event's URI."""
    reason: Optional[str] = None
    """Google's reason. Absent when Google gave no reason, or an unknown one."""


@dataclass(frozen=True)
class Grant:
    """See Grant in siwa's OpenAPI document."""

    id: str
    account_id: str
    """Opaque and stable."""
    client_id: str
    """The OAuth client, by the ID in its configuration."""
    app: str
    """The primary client ID of the app."""
    scope: str
    """All scopes that the user has agreed to, separated by spaces."""
    google_account_known: bool
    """True if the `sub` of the Google account is known, as after streamlined linking. Google's events about the
    account end only grants with true.
    """
    created_at: datetime
    """RFC 3339 in UTC, always with milliseconds."""
    consented_at: datetime
    """RFC 3339 in UTC, always with milliseconds."""
    client_name: Optional[str] = None
    """Absent for a client that is no longer configured."""
    last_used_on: Optional[str] = None
    """The last day (UTC) on which the client got tokens; absent before the first tokens."""


@dataclass(frozen=True)
class GrantOfEvent:
    """The OAuth grant that was created or has ended. Only with `grant_created`, `grant_revoked` and `token_revoked`."""

    id: str
    client_id: str
    """The OAuth client."""
    reason: Optional[str] = None
    """Only with `grant_revoked` and `token_revoked`."""
    google_event: Optional[GoogleEvent] = None
    """Only with the reason `google_revoked`."""


@dataclass(frozen=True)
class Grants:
    """See Grants in siwa's OpenAPI document."""

    grants: List[Grant]
    """All grants of the account."""


@dataclass(frozen=True)
class Identity:
    """The claims of the token with Apple's names, and with JSON booleans."""

    iss: str
    """The issuer. Always Apple."""
    sub: str
    """`sub`: Apple's user ID for one team. It is compared as bytes."""
    aud: str
    """A bundle ID or a Services ID."""
    team_id: str
    """An Apple developer team."""
    client_id: str
    """The app's primary client ID."""
    iat: datetime
    """RFC 3339 in UTC, always with milliseconds."""
    exp: datetime
    """RFC 3339 in UTC, always with milliseconds."""
    auth_time: Optional[datetime] = None
    """RFC 3339 in UTC, always with milliseconds."""
    nonce: Optional[str] = None
    """The nonce of the request, as the token has it."""
    nonce_supported: Optional[bool] = None
    """True if the platform supports nonces."""
    c_hash: Optional[str] = None
    """The hash of the authorization code (OpenID Connect Core §3.3.2.11)."""
    at_hash: Optional[str] = None
    """The hash of the access token (OpenID Connect Core §3.1.3.6)."""
    email: Optional[str] = None
    """The e-mail address or the private relay address."""
    email_verified: Optional[bool] = None
    """Apple has verified the address."""
    is_private_email: Optional[bool] = None
    """Apple's claim. Without the claim, true if the address has one of Apple's relay domains."""
    real_user_status: Optional[int] = None
    """0 unsupported, 1 unknown, 2 likely real. Apple may add numbers."""
    transfer_sub: Optional[str] = None
    """The user's transfer identifier, for 60 days after a transfer of the app."""
    org_id: Optional[str] = None
    """The organization of a managed Apple Account."""


@dataclass(frozen=True)
class IntrospectionResponse:
    """An introspection response (RFC 7662 §2.2). An inactive token has `active` alone."""

    active: bool
    """True if the token is good now: issued here, not expired, not revoked, and the account may use it."""
    scope: Optional[str] = None
    """The granted scope. Space-separated."""
    client_id: Optional[str] = None
    """The OAuth client."""
    sub: Optional[str] = None
    """The account ID."""
    iss: Optional[str] = None
    """The issuer of the token."""
    auth_time: Optional[int] = None
    """When the end user signed in with Apple, in seconds since 1970."""
    token_type: Optional[str] = None
    """`Bearer`, of an access token."""
    aud: Optional[str] = None
    """The audience of the client."""
    iat: Optional[int] = None
    """When the token was issued, in seconds since 1970."""
    exp: Optional[int] = None
    """When the token expires, in seconds since 1970."""
    jti: Optional[str] = None
    """The ID of the token."""


@dataclass(frozen=True)
class KeyRegistration:
    """See KeyRegistration in siwa's OpenAPI document."""

    key: AttestedKey
    """A key of App Attest."""
    is_new_key: bool
    """False if the key was registered before."""


@dataclass(frozen=True)
class ManualRevocation:
    """See ManualRevocation in siwa's OpenAPI document."""

    client_id: str
    """A bundle ID or a Services ID."""
    cause: str
    """The reason why the revocation of a token is not proven, or why there was no token: a cause of
    `refresh_token_cause`, one of Apple's error codes, a failure of the request to Apple, or one of these values.
    """


@dataclass(frozen=True)
class Nonce:
    """See Nonce in siwa's OpenAPI document."""

    nonce: str
    """The raw nonce, which the backend posts with the token."""
    nonce_sha256: str
    """The value for Apple in a native app."""
    expires_at: datetime
    """RFC 3339 in UTC, always with milliseconds."""


@dataclass(frozen=True)
class SignInOutcome:
    """See SignInOutcome in siwa's OpenAPI document."""

    account: Account
    credential: Credential
    is_new_account: bool
    """True if this sign-in created the account."""
    app_check: Optional[AppCheckResult] = None
    """Result of judging the app. Absent where App Check is off."""
    dropped: Optional[List[str]] = None
    """Values that decide nothing and were dropped for their form. Absent without any."""


@dataclass(frozen=True)
class VerifiedIdentity:
    """See VerifiedIdentity in siwa's OpenAPI document."""

    identity: Identity
    """The claims of the token with Apple's names, and with JSON booleans."""
    app_check: Optional[AppCheckResult] = None
    """Result of judging the app. Absent where App Check is off."""
    dropped: Optional[List[str]] = None
    """Values that decide nothing and were dropped for their form. Absent without any."""
