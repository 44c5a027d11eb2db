"""What one case is, and the honest token that every other case departs from in one point."""

import datetime
import hashlib

from jws import base64_standard, base64url, compact, json_bytes, signing_input
from keys import rsa

ISSUER = "https://appleid.apple.com"
APP = "com.example.siwa.app"  # a bundle ID, the primary App ID
WEB = "com.example.siwa.web"  # a Services ID grouped under it
STRANGER_APP = "com.example.stranger"
SUB = "001847.6f1d0c2b9a8e4d7f8c3b5a6978e1d2f4.0930"
KIDS = {"signer-1": "fxSigner01", "signer-2": "fxSigner02", "signer-3": "fxSigner03",
        "signer-4": "fxSigner04"}
DAY = 86400
LAST_SECOND = 253402300799  # 9999-12-31T23:59:59Z

IDENTITY_TOKENS = {}
NOTIFICATIONS = {}


def rfc3339(seconds):
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(text):
    moment = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
    return int(moment.timestamp())


AT = seconds("2026-03-14T09:30:00Z")
ISSUED = AT - 20


class Without:
    """Marks a claim that is left out."""


def changed(members, changes):
    result = {name: changes.get(name, value) for name, value in members.items()}
    result.update(changes)
    return {name: value for name, value in result.items() if value is not Without}


def claims(**changes):
    """An identity token's claims as Apple writes them today, changed in the points named."""
    return changed({
        "iss": ISSUER, "aud": APP, "exp": ISSUED + DAY, "iat": ISSUED, "sub": SUB,
        "email": "h7k2m9x4qd@privaterelay.appleid.com",
        "email_verified": True, "is_private_email": True, "auth_time": ISSUED, "nonce_supported": True,
        "real_user_status": 2,
    }, changes)


def event(**changes):
    return changed({"type": "consent-revoked", "sub": SUB, "event_time": (ISSUED - 15) * 1000 + 622}, changes)


def notice(events, **changes):
    """A notification's claims as Apple writes them: `events` is a JSON string that holds one object."""
    if isinstance(events, dict):
        events = json_bytes(events).decode()
    return changed({
        "iss": ISSUER, "aud": APP, "exp": ISSUED + DAY, "iat": ISSUED, "jti": "Zk3vTq8mWc5yRb1nXe7hLg",
        "events": events,
    }, changes)


def header(key="signer-1", **changes):
    return changed({"kid": KIDS.get(key, "fxSigner01"), "alg": "RS256"}, changes)


def signed(payload, head=None, key="signer-1"):
    """An honestly signed token with any header and payload."""
    head = header(key) if head is None else head
    return compact(head, payload, rsa(key).sign(signing_input(head, payload)))


def left_half(secret):
    """c_hash and at_hash (OpenID Connect Core §3.1.3.6, §3.3.2.11)."""
    return base64url(hashlib.sha256(secret.encode()).digest()[:16])


def sha256_hex(text):
    return hashlib.sha256(text.encode()).hexdigest()


def sha256_base64url(text):
    return base64url(hashlib.sha256(text.encode()).digest())


def sha256_base64(text):
    return base64_standard(hashlib.sha256(text.encode()).digest())


def boolean(value):
    return {"true": True, "false": False}.get(value, value)


def is_private(members):
    """Apple's claim, or where it is absent Apple's domain; any other address says nothing."""
    if "is_private_email" in members:
        return boolean(members["is_private_email"])
    domain = members.get("email", "").rpartition("@")[2].lower()
    return True if domain in ("privaterelay.appleid.com", "private.icloud.com") else None


def identity(members):
    """What the verifier must say about accepted claims: Apple's names, real booleans, nothing for what is absent.
    """
    copied = [
        "iss", "sub", "iat", "exp", "auth_time", "nonce", "nonce_supported", "email", "real_user_status",
        "transfer_sub", "org_id", "c_hash", "at_hash",
    ]
    result = {name: members[name] for name in copied if name in members}
    result["client_id"] = members["aud"]
    if "email_verified" in members:
        result["email_verified"] = boolean(members["email_verified"])
    if is_private(members) is not None:
        result["is_private_email"] = is_private(members)
    result["authorization_moment"] = members.get("auth_time", members["iat"])
    return result


def put(folder, kind, name, summary, token, code, found, at, key_set, configuration, expecting):
    assert name not in folder, f"two cases are called {name}"
    case = {"summary": summary, "kind": kind}
    case.update({"token_parts": token} if isinstance(token, list) else {"token": token})
    case["key_set"] = key_set
    case["configuration"] = {"client_ids": [APP, WEB], **(configuration or {})}
    if expecting:
        case["expectations"] = expecting
    case["at"] = rfc3339(at)
    case["verdict"] = "accepted" if code is None else "refused"
    if code is not None:
        case["code"] = code
    if found is not None:
        case["identity" if kind == "identity-token" else "notification"] = found
    folder[name] = case


def accepted(name, summary, payload, token=None, at=AT, key_set="current.json", configuration=None,
             expecting=None, found=None):
    """`payload` are the claims that the identity is read from; `token` when it is not the plain signed one."""
    token = signed(payload) if token is None else token
    put(IDENTITY_TOKENS, "identity-token", "accepted-" + name, summary, token, None,
        found or identity(payload), at, key_set, configuration, expecting)


def refused(name, code, summary, token, at=AT, key_set="current.json", configuration=None, expecting=None):
    put(IDENTITY_TOKENS, "identity-token", name, summary, token, code, None, at, key_set, configuration,
        expecting)


def refused_claims(name, code, summary, payload, **more):
    """An honestly signed token that must be refused for what it says."""
    refused(name, code, summary, signed(payload), **more)


def notification_accepted(name, summary, payload, events, token=None, at=AT, configuration=None):
    token = signed(payload) if token is None else token
    found = {"client_id": payload["aud"], "iat": payload["iat"], "exp": payload["exp"], "events": events}
    if "jti" in payload:
        found["jti"] = payload["jti"]
    put(NOTIFICATIONS, "notification", "accepted-" + name, summary, token, None, found, at, "current.json",
        configuration, None)


def notification_refused(name, code, summary, token, at=AT, key_set="current.json", configuration=None):
    put(NOTIFICATIONS, "notification", name, summary, token, code, None, at, key_set, configuration, None)


def notification_refused_claims(name, code, summary, payload, **more):
    notification_refused(name, code, summary, signed(payload), **more)
