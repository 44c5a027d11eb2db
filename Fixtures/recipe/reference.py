"""A second reader: judges every case from its file alone, so that a mistake in the recipe does not become the
truth.

It was written from the standards and the reading order, not from the service, and it is slow and plain on
purpose.
"""

import base64
import hashlib
import json
import re
import unicodedata

from keys import is_valid

DEPTH, MEMBERS, LARGEST, MOST_EVENTS = 8, 64, 16 * 1024, 16
LAST_SECOND = 253402300799


class Refused(Exception):
    pass


class Decimal(str):
    """A number that is not written as an integer."""


def require(condition, code):
    if not condition:
        raise Refused(code)


def strict_json(data, code):
    def members(pairs):
        require(len({name for name, _ in pairs}) == len(pairs) <= MEMBERS, code)
        return dict(pairs)

    def unknown(_):
        raise ValueError

    def check(value, depth):
        if isinstance(value, str) and not isinstance(value, Decimal):
            require("\0" not in value and not any(0xD800 <= ord(c) < 0xE000 for c in value), code)
        if isinstance(value, (dict, list)):
            require(depth < DEPTH, code)
            for name in value if isinstance(value, dict) else []:
                check(name, depth)
            for element in value.values() if isinstance(value, dict) else value:
                check(element, depth + 1)

    try:
        text = data.decode("utf-8")
        value = json.loads(text, object_pairs_hook=members, parse_constant=unknown, parse_float=Decimal,
                           parse_int=lambda digits: int(digits) if len(digits) < 40 else Decimal(digits))
    except (ValueError, RecursionError):
        raise Refused(code) from None
    check(value, 0)
    return value


def segment(text):
    require(re.fullmatch(r"[A-Za-z0-9_-]+", text), "token_malformed")
    require(len(text) % 4 != 1, "token_malformed")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    require(base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text, "token_malformed")
    return data


def usable(entry):
    try:
        number = {name: int.from_bytes(segment(entry[name]), "big") for name in "ne"}
    except (KeyError, TypeError, Refused):
        return False
    operations = entry.get("key_ops", ["verify"])
    if not isinstance(operations, list) or not all(isinstance(name, str) for name in operations):
        return False
    if "verify" not in operations or len(set(operations)) != len(operations):
        return False
    return (entry.get("kty") == "RSA" and entry.get("use", "sig") == "sig" and entry.get("alg", "RS256") == "RS256"
            and isinstance(entry.get("kid"), str) and 0 < len(entry["kid"]) <= 64
            and number["n"] % 2 == 1 and 2048 <= number["n"].bit_length() <= 4096 and number["e"] == 65537)


def find_key(kid, key_set):
    numbers = {(entry["n"], entry["e"]): entry for entry in key_set if usable(entry) and entry["kid"] == kid}
    require(len(numbers) == 1, "unknown_key")
    return next(iter(numbers.values()))


def payload_of(token, key_set):
    require(len(token.encode()) <= LARGEST, "token_too_large")
    parts = token.split(".")
    require(len(parts) == 3 and all(parts), "token_malformed")
    header_bytes, payload, signature = map(segment, parts)
    header = strict_json(header_bytes, "token_malformed")
    require(isinstance(header, dict), "token_malformed")
    require(header.get("alg") == "RS256", "algorithm_not_allowed")
    require(not {"crit", "b64", "jwk", "jku", "x5u", "x5c"} & set(header), "header_not_allowed")
    kid = header.get("kid")
    require(isinstance(kid, str) and 0 < len(kid) <= 64, "key_id_invalid")
    require(is_valid(f"{parts[0]}.{parts[1]}", signature, find_key(kid, key_set)), "signature_invalid")
    claims = strict_json(payload, "token_malformed")
    require(isinstance(claims, dict), "token_malformed")
    return claims


def is_time(value, largest=LAST_SECOND):
    return type(value) is int and 0 <= value <= largest


def is_boolean(value):
    return value in (True, False, "true", "false") and not type(value) is int


def check_types(claims, required):
    texts = ["iss", "sub", "nonce", "transfer_sub", "c_hash", "at_hash", "jti"]
    for name, value in claims.items():
        if name in texts:
            require(type(value) is str, "claim_malformed")
        if name == "aud":
            require(type(value) in (str, list), "claim_malformed")
        if name in ("exp", "iat", "nbf", "auth_time"):
            require(is_time(value), "claim_malformed")
        if name in ("email_verified", "nonce_supported"):
            require(is_boolean(value), "claim_malformed")
    for name in required:
        require(name in claims, "claim_missing")


def is_subject(value):
    if not isinstance(value, str) or not 0 < len(value) <= 255:
        return False
    return not any(unicodedata.category(character) == "Cc" for character in value)


def check_origin(claims, configuration):
    leeway = configuration.get("leeway_seconds", 60)
    require(claims["iss"] in configuration.get("issuers", ["https://appleid.apple.com"]), "issuer_mismatch")
    require(type(claims["aud"]) is str and claims["aud"] in configuration["client_ids"], "audience_mismatch")
    return leeway


def check_times(claims, leeway, at):
    require(at - leeway < claims["exp"], "token_expired")
    require(claims["iat"] <= at + leeway and claims.get("auth_time", 0) <= at + leeway, "issued_in_future")


def nonce_encodings(nonce):
    digest = hashlib.sha256(nonce.encode()).digest()
    url = base64.urlsafe_b64encode(digest).decode().rstrip("=")
    return [nonce, digest.hex(), url, base64.b64encode(digest).decode()]


def check_hash(claims, claim, secret, word):
    if secret is not None:
        require(claim in claims, f"{word}_hash_missing")
        half = base64.urlsafe_b64encode(hashlib.sha256(secret.encode()).digest()[:16]).decode().rstrip("=")
        require(claims[claim] == half, f"{word}_hash_mismatch")


def identity_token(claims, configuration, expecting, at):
    require("events" not in claims, "not_an_identity_token")
    check_types(claims, ["iss", "aud", "exp", "iat", "sub"])
    require(claims.get("nbf", 0) <= at + configuration.get("leeway_seconds", 60), "token_not_yet_valid")
    leeway = check_origin(claims, configuration)
    require(expecting.get("client_id", claims["aud"]) == claims["aud"], "audience_mismatch")
    check_times(claims, leeway, at)
    require(is_subject(claims["sub"]), "subject_invalid")
    nonce = expecting.get("nonce")
    if nonce is not None:
        require("nonce" in claims or claims.get("nonce_supported") in (False, "false"), "nonce_missing")
        require("nonce" not in claims or claims["nonce"] in nonce_encodings(nonce), "nonce_mismatch")
    check_hash(claims, "c_hash", expecting.get("authorization_code"), "code")
    check_hash(claims, "at_hash", expecting.get("access_token"), "access_token")


KNOWN = {
    "consent-revoked": "consent-revoked", "account-delete": "account-deleted", "account-deleted": "account-deleted",
    "email-disabled": "email-disabled", "email-enabled": "email-enabled",
}


def read_event(value):
    """Known types are read strictly; of an unknown one only what can be used is kept."""
    code = "events_malformed"
    require(isinstance(value, dict) and type(value.get("type", "")) is str, code)
    kind = KNOWN.get(value.get("type", ""), "unknown")
    result = {"kind": kind, "type": value.get("type", "")}
    if kind != "unknown":
        require("sub" in value and "event_time" in value, code)
    for name, is_good in {
        "sub": is_subject, "event_time": lambda time: is_time(time, LAST_SECOND * 1000 + 999),
        "email": lambda text: type(text) is str, "is_private_email": is_boolean,
    }.items():
        if name in value and is_good(value[name]):
            result[name] = value[name]
        else:
            require(name not in value or kind == "unknown", code)
    if "event_time" in result:
        time = result.pop("event_time")
        result["event_time_milliseconds"] = time if time > 10**11 else time * 1000
    if "is_private_email" in result:
        result["is_private_email"] = result["is_private_email"] in (True, "true")
    elif re.search(r"@(privaterelay\.appleid|private\.icloud)\.com\Z", result.get("email", ""), re.I | re.A):
        result["is_private_email"] = True
    return result


def notification(claims, configuration, at):
    require("events" in claims, "not_a_notification")
    check_types({name: value for name, value in claims.items() if name in ("iss", "aud", "exp", "iat", "nbf", "jti")},
                ["iss", "aud", "exp", "iat"])
    require(claims.get("nbf", 0) <= at + configuration.get("leeway_seconds", 60), "token_not_yet_valid")
    leeway = check_origin(claims, configuration)
    check_times(claims, leeway, at)
    events = claims["events"]
    if isinstance(events, str):
        events = strict_json(events.encode(), "events_malformed")
    events = events if isinstance(events, list) else [events]
    require(0 < len(events) <= MOST_EVENTS, "events_malformed")
    result = [read_event(event) for event in events]
    latest = (at + leeway) * 1000 + 999
    require(all(event.get("event_time_milliseconds", 0) <= latest for event in result), "issued_in_future")
    return result


def judge(case, key_set, at):
    """The code of the refusal, or `None`; and what was read from the events of an accepted notification."""
    parts = case.get("token_parts") or [{"text": case["token"]}]
    token = "".join(part["text"] * part.get("times", 1) for part in parts)
    try:
        claims = payload_of(token, key_set)
        if case["kind"] == "notification":
            return None, notification(claims, case["configuration"], at)
        identity_token(claims, case["configuration"], case.get("expectations", {}), at)
        return None, None
    except Refused as refusal:
        return str(refusal), None
