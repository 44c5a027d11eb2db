"""Identity tokens as Apple makes them, signed by a key made for the run, and the requests that carry them."""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

# One that is easily guessed would be refused at start-up.
API_KEY = "siwa_" + secrets.token_urlsafe(32)
CLIENT_ID = "com.example.app"
ISSUER = "https://appleid.apple.com"
KEY_ID = "BENCHKEY1"
TEAM_ID = "A1B2C3D4E5"
TOKENS = 10_000
ONCE_PER_SECOND = 12_000
"""Of requests that can be sent once only, so many are there for each second of a run."""


def sub(number: int) -> str:
    """The subject of an account: as long as Apple's, and in no order. `sub_sql` says the same to PostgreSQL."""
    return f"001234.{hashlib.md5(str(number).encode()).hexdigest()}.0567"


def sub_sql(number: str) -> str:
    return f"'001234.' || md5(({number})::text) || '.0567'"


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class SigningKey:
    """A key like one of Apple's, with its public half as a key set and as PEM."""

    def __init__(self, directory: Path) -> None:
        self._key = rsa.generate_private_key(65537, 2048)
        public = self._key.public_key()
        numbers = public.public_numbers()
        key = {
            "kty": "RSA", "kid": KEY_ID, "use": "sig", "alg": "RS256",
            "n": base64url(numbers.n.to_bytes(256, "big")), "e": "AQAB",
        }
        self.key_set = directory / "keys.json"
        self.key_set.write_text(json.dumps({"keys": [key]}))
        self.pem = directory / "key.pem"
        self.pem.write_bytes(
            public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))

    def token(self, number: int, **changed: Any) -> str:
        now = int(time.time())
        claims = {
            "iss": ISSUER, "aud": CLIENT_ID, "exp": now + 86_000, "iat": now - 10, "sub": sub(number),
            "c_hash": base64url(hashlib.sha256(str(number).encode()).digest()[:16]), "email": email(number),
            "email_verified": True, "is_private_email": True, "auth_time": now - 10, "nonce_supported": True,
            "real_user_status": 2,
        }
        return self._sign(claims | changed)

    def _sign(self, claims: dict[str, Any]) -> str:
        header = {"kid": KEY_ID, "alg": "RS256"}
        parts = [json.dumps(part, separators=(",", ":")).encode() for part in (header, claims)]
        signed = ".".join(base64url(part) for part in parts)
        return f"{signed}.{base64url(self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256()))}"

    def notification(self, number: int) -> str:
        """Apple's word that a person has withdrawn the consent."""
        now = int(time.time())
        event = {"type": "consent-revoked", "sub": sub(number), "event_time": now * 1000}
        claims = {
            "iss": ISSUER, "aud": CLIENT_ID, "exp": now + 86_000, "iat": now, "jti": f"bench-{number}",
            "events": json.dumps(event, separators=(",", ":")),
        }
        return self._sign(claims)

    def forgeries(self) -> dict[str, str]:
        """What every subject has to refuse."""
        head, payload, signature = self.token(0).split(".")
        other = self.token(1).split(".")[1]
        return {
            "another's signature": f"{head}.{other}.{signature}",
            "another issuer": self.token(0, iss="https://example.com"),
            "another app": self.token(0, aud="com.example.other"),
        }


def email(number: int) -> str:
    return f"{hashlib.md5(str(number).encode()).hexdigest()[:10]}@privaterelay.appleid.com"


def posted(path: str) -> Callable[[str], bytes]:
    """A request that posts a token."""
    def request(token: str) -> bytes:
        body = json.dumps({"identity_token": token}, separators=(",", ":"))
        return (
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {API_KEY}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
        ).encode()
    return request


def borne(token: str) -> bytes:
    """A request with the token as its Bearer token."""
    return f"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


def state_query(number: int) -> bytes:
    return (
        f"GET /v1/credentials/{sub(number)}?client_id={CLIENT_ID} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {API_KEY}\r\n\r\n"
    ).encode()


def mint_nonce(_: int) -> bytes:
    return (
        "POST /v1/nonces HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {API_KEY}\r\nContent-Length: 0\r\n\r\n"
    ).encode()


def notified(payload: str) -> bytes:
    """A request of Apple's."""
    body = json.dumps({"payload": payload}, separators=(",", ":"))
    return (
        "POST /v1/apple/notifications HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


def batch_query(numbers: list[int]) -> bytes:
    body = json.dumps({"client_id": CLIENT_ID, "subs": [sub(number) for number in numbers]}, separators=(",", ":"))
    return (
        f"POST /v1/credentials/query HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {API_KEY}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


def event_page(cursor: int) -> bytes:
    return (
        f"GET /v1/events?after={cursor}&limit=1000 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {API_KEY}\r\n\r\n"
    ).encode()


def write_requests(path: Path, requests: Iterable[bytes]) -> Path:
    """The form that both loads read: each request after its length in four bytes, the lowest first."""
    with path.open("wb") as file:
        for request in requests:
            file.write(len(request).to_bytes(4, "little") + request)
    return path


def read_requests(path: Path) -> Iterator[bytes]:
    content = path.read_bytes()
    start = 0
    while start < len(content):
        end = start + 4 + int.from_bytes(content[start:start + 4], "little")
        yield content[start + 4:end]
        start = end


@dataclass(frozen=True)
class RequestFiles:
    """The same tokens in every form in which a subject wants them."""

    verify: Path
    sign_in: Path
    state: Path
    nonce: Path
    batch: Path
    events: Path
    bare: Path
    bearer: Path

    @staticmethod
    def write(directory: Path, name: str, key: SigningKey, accounts: int) -> "RequestFiles":
        """Tokens of `TOKENS` accounts, spread evenly over all of them."""
        numbers = [index * accounts // TOKENS for index in range(TOKENS)]
        tokens = [key.token(number) for number in numbers]

        def file(kind: str, requests: Iterable[bytes]) -> Path:
            return write_requests(directory / f"{name}-{kind}.requests", requests)

        return RequestFiles(
            verify=file("verify", map(posted("/v1/identity-tokens/verify"), tokens)),
            sign_in=file("sign-in", map(posted("/v1/sign-ins"), tokens)),
            state=file("state", map(state_query, numbers)),
            nonce=file("nonce", map(mint_nonce, numbers)),
            batch=file("batch", (batch_query(numbers[start:start + 1000]) for start in range(0, TOKENS, 1000))),
            events=file("events", map(event_page, range(0, TOKENS, 1000))),
            bare=file("bare", map(posted("/"), tokens)),
            bearer=file("bearer", map(borne, tokens)))
