"""What schemathesis cannot guess: identity tokens that the fake Apple has signed, and the JSON text of Apple's form."""

import itertools
import json
import os
import random
import urllib.request

import schemathesis
from hypothesis import strategies

APPLE = os.environ["SIWA_FAKE_APPLE"]
TAKE_TOKENS = ("verifyIdentityToken", "signIn")

schemathesis.openapi.format(
    "apple-user",
    strategies.fixed_dictionaries(
        {},
        optional={
            "name": strategies.fixed_dictionaries({"firstName": strategies.sampled_from(["", "Ada", "\u00c9va"])}),
            "email": strategies.just("ada@example.com"),
        },
    ).map(json.dumps),
)


@schemathesis.serializer("application/secevent+jwt")
def security_event_token(context, value):
    """A security event token is the whole body."""
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


def ask_apple(path, members):
    request = urllib.request.Request(f"{APPLE}/emulator/{path}", json.dumps(members).encode(), method="POST")
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


counter = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Every second body that is well formed gets a token that is good, so that what follows a sign-in is tested too."""
    operation = case.operation.definition.raw.get("operationId")
    body = case.body
    # A poll that waits makes the run longer, and nothing else.
    if operation == "pollEvents" and isinstance(body, dict) and body.get("returnImmediately") in (None, False):
        body["returnImmediately"] = True
    if operation not in TAKE_TOKENS or not isinstance(body, dict) or not isinstance(body.get("identity_token"), str):
        return
    if case.meta is not None and case.meta.generation.mode.is_negative:
        return
    if next(counter) % 2:
        return
    user = ask_apple("users", {"first_name": "Ada", "hide_email": True})
    minted = ask_apple("identity-tokens", {"sub": user["sub"], "code": True})
    body["identity_token"] = minted["identity_token"]
    body["authorization_code"] = minted["authorization_code"]
    for name in ("nonce", "client_id", "access_token", "create"):
        body.pop(name, None)
