"""The verification as one would write it with PyJWT, as a bare ASGI application without a framework."""

import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

import jwt

KEYS = {key.key_id: key.key for key in jwt.PyJWKSet.from_json(open(os.environ["KEYS"]).read()).keys}
CLIENT_ID = os.environ["CLIENT_ID"]
ISSUER = "https://appleid.apple.com"


async def app(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    status, answer = verify(body)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


def verify(body: bytes) -> tuple[int, bytes]:
    token = json.loads(body)["identity_token"]
    try:
        key = KEYS[jwt.get_unverified_header(token)["kid"]]
        claims = jwt.decode(token, key, algorithms=["RS256"], audience=CLIENT_ID, issuer=ISSUER)
    except (jwt.InvalidTokenError, KeyError):
        return 401, b'{"status":401}'
    return 200, json.dumps({"identity": claims}).encode()
