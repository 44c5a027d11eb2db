"""Judges received security event tokens again, from RFC 8417 and RFC 8935, with no code of the recipe."""

import base64
import json
import string

from cases import seconds
from keys import is_valid

ALPHABET = set(string.ascii_letters + string.digits + "-_")


class Duplicate(Exception):
    pass


def unique(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise Duplicate
    return dict(pairs)


def decoded(text):
    if not text or set(text) - ALPHABET or len(text) % 4 == 1:
        return None
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def read(data):
    try:
        value = json.loads(data, object_pairs_hook=unique)
    except (ValueError, Duplicate):
        return None
    return value if isinstance(value, dict) else None


def is_second(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 253402300799


def judge(case, key_set):
    """The code of the refusal, and what is read of an accepted token."""
    parts = case["token"].split(".")
    contents = [decoded(part) for part in parts]
    if len(parts) != 3 or None in contents:
        return "invalid_request", None
    head = read(contents[0])
    if head is None or str(head.get("typ")).lower() not in ("secevent+jwt", "application/secevent+jwt"):
        return "invalid_request", None
    keys = [key for key in key_set if key.get("kid") == head.get("kid") and key.get("alg") == head.get("alg")]
    if not any(is_valid(".".join(parts[:2]), contents[2], key) for key in keys):
        return "invalid_key", None
    return judge_claims(case, contents[1])


def judge_claims(case, content):
    claims = read(content)
    if claims is None:
        return "invalid_request", None
    if claims.get("iss") != case["issuer"]:
        return "invalid_issuer", None
    named = claims.get("aud")
    named = named if isinstance(named, list) else [named]
    if not any(name in case["audiences"] for name in named):
        return "invalid_audience", None
    now, jti, events = seconds(case["at"]), claims.get("jti"), claims.get("events")
    is_good = (
        isinstance(jti, str) and 0 < len(jti) < 256 and jti.isprintable()
        and is_second(claims.get("iat")) and claims["iat"] <= now + 60
        and ("nbf" not in claims or (is_second(claims["nbf"]) and claims["nbf"] <= now + 60))
        and isinstance(events, dict) and 0 < len(events) <= 16)
    if not is_good:
        return "invalid_request", None
    return None, {"jti": jti, "iat": claims["iat"], "events": list(events)}


def known(uri):
    prefix, _, name = uri.rpartition("/")
    prefix = prefix.replace("https://schemas.openid.net/secevent/", "")
    kinds = {
        "oauth/event-type": ["tokens-revoked", "token-revoked"],
        "risc/event-type": ["sessions-revoked", "account-disabled", "account-enabled",
                            "account-credential-change-required", "verification"],
    }
    return name if name in kinds.get(prefix, []) else "other"


def account(subject):
    sub = subject.get("sub")
    issuers = ["https://accounts.google.com/", "https://accounts.google.com", "accounts.google.com"]
    is_name = isinstance(sub, str) and 0 < len(sub) < 256 and sub.isprintable()
    return sub if is_name and subject.get("iss") in issuers else None


def digest(subject):
    text, form = subject.get("token", ""), subject.get("token_identifier_alg")
    try:
        if form == "hash_SHA512_double":
            data = bytes.fromhex(text)
        elif form == "hash_base64_sha512_sha512":
            text = text.replace("-", "+").replace("_", "/")
            data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
        else:
            return None
    except ValueError:
        return None
    return data.hex() if len(data) == 64 else None


def judge_google(case, key_set):
    """The same for a token of Google, which has no typ and is signed in RS256."""
    parts = case["token"].split(".")
    contents = [decoded(part) for part in parts]
    head = read(contents[0]) if len(parts) == 3 and None not in contents else None
    if head is None or head.get("alg") != "RS256" or not head.get("kid"):
        return "invalid_request", None
    # From here on it is a token like the others.
    typed = {**case, "issuer": "https://accounts.google.com/", "audiences": [case["audience"]]}
    keys = [key for key in key_set if key.get("kid") == head["kid"]]
    if not any(is_valid(".".join(parts[:2]), contents[2], key) for key in keys):
        return "invalid_key", None
    code, found = judge_claims(typed, contents[1])
    if code:
        return code, None
    ((uri, event),) = read(contents[1])["events"].items()
    kind, subject = known(uri), event.get("subject", event)
    name = account(subject)
    changes = {
        "sessions-revoked": ["end all"], "tokens-revoked": ["end project"], "account-disabled": ["end all", "disable"],
        "account-enabled": ["enable"],
    }.get(kind, ["name"])
    changes = [f"{change} {name}" for change in changes] if name else []
    if kind == "token-revoked":
        changes = [f"end token {digest(subject)}"] if digest(subject) else []
    result = {"jti": found["jti"], "kind": kind, "changes": changes}
    if event.get("reason") in ("hijacking", "bulk-account"):
        result["reason"] = event["reason"]
    if kind == "verification" and 0 < len(event.get("state", "")) < 256:
        result["state"] = event["state"]
    return None, result
