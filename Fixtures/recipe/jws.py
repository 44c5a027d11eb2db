"""The bytes of tokens, put together by hand: JSON as it is wanted, right or wrong, and its base64url.

Nothing here is shared with the service, so that a mistake there cannot hide behind the same mistake here.
"""

import base64
import json


class Raw(str):
    """JSON text that goes into a document exactly as it is written here."""


class Pairs(list):
    """The members of an object as (name, value) pairs, so that a name can come twice."""


class Name(str):
    """A member name that is written between quotes as it is, escapes and all."""


def json_text(value):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        value = Pairs(value.items())
    if isinstance(value, Pairs):
        return "{" + ",".join(f"{name_text(name)}:{json_text(member)}" for name, member in value) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(json_text(element) for element in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def name_text(name):
    return f'"{name}"' if isinstance(name, Name) else json.dumps(name, ensure_ascii=False)


def json_bytes(value):
    """UTF-8 without white space; bytes and Raw text pass unchanged."""
    return value if isinstance(value, bytes) else json_text(value).encode("utf-8")


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def base64url_decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def base64_standard(data):
    return base64.b64encode(data).decode("ascii")


def signing_input(header, payload):
    return f"{base64url(json_bytes(header))}.{base64url(json_bytes(payload))}"


def compact(header, payload, signature):
    return f"{signing_input(header, payload)}.{base64url(signature)}"


def segments(token):
    header, payload, signature = token.split(".")
    return header, payload, signature


def with_stray_bits(segment):
    """The same bytes in another spelling: the bits that no byte uses are set in the last character."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    assert len(segment) % 4 in (2, 3), "a segment without unused bits has only one spelling"
    changed = segment[:-1] + alphabet[alphabet.index(segment[-1]) | 1]
    assert changed != segment and base64url_decode(changed) == base64url_decode(segment)
    return changed
