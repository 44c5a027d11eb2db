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
    claims = read(contents[1])
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
