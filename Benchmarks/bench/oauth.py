"""OAuth clients of the service, and what their people and their backends send: tokens, codes, sessions.

Refresh tokens and codes follow from the number of an account, so that a database can be filled with their digests
and the requests need no other record of them."""

import base64
import hashlib
import hmac
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from .tokens import API_KEY, CLIENT_ID, base64url

PUBLIC_URL = "https://accounts.example.com"
SERVICES_ID = "com.example.web"


def _secret() -> str:
    return "siwa_cs_" + base64url(os.urandom(32))


SECRET = _secret()
"""Of the client for Google."""
REDIRECT_URI = "https://client.example.com/callback"
LOOPBACK_URI = "http://127.0.0.1:9004/callback"
PROJECT = "bench-project"
# 2024-01-01, in milliseconds.
EPOCH = 1_704_067_200_000
_SEALING_KEY_NAME = "bench"
_SEALING_KEY = os.urandom(32)
_USER_AGENT = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36")


@dataclass(frozen=True)
class Client:
    """An OAuth client of the configuration, and the scope of its grants."""

    id: str
    is_native: bool
    scope: str


NATIVE = Client("bench-desktop", True, "email offline_access")
NATIVE_OPENID = Client("bench-desktop", True, "openid email offline_access")
GOOGLE = Client("bench-google", False, "openid email")
WEB = Client("bench-web", False, "openid email")


def configuration(path: Path) -> Path:
    """The YAML file with one client of each kind."""
    google_hash, web_hash = (hashlib.sha256(secret.encode()).hexdigest() for secret in (SECRET, _secret()))
    path.write_text(f"""
oauth:
  clients:
    - id: {GOOGLE.id}
      kind: google_linking
      app: {CLIENT_ID}
      name: Google
      secret_hashes: [{google_hash}]
      scopes: [openid, email, profile]
      project_id: {PROJECT}
      app_flip: true
    - id: {WEB.id}
      kind: web
      app: {CLIENT_ID}
      name: Example for the web
      purpose: {{en: Shows your devices in the browser}}
      secret_hashes: [{web_hash}]
      scopes: [openid, email, profile, offline_access]
      redirect_uris: ["{REDIRECT_URI}"]
    - id: {NATIVE.id}
      kind: native
      app: {CLIENT_ID}
      name: Example for desktops
      scopes: [openid, email, profile, offline_access]
      redirect_uris: ["http://127.0.0.1/callback"]
      platform: linux
""")
    return path


def environment(configuration: Path) -> dict[str, str]:
    """What the service needs beside what it needs without OAuth clients."""
    key = base64.b64encode(_SEALING_KEY).decode()
    return {
        "SIWA_CONFIG": str(configuration), "SIWA_PUBLIC_URL": PUBLIC_URL,
        "SIWA_WEB_REDIRECT_URL": "https://www.example.com/signed-in",
        "APPLE_CLIENT_IDS": f"{CLIENT_ID},{SERVICES_ID}", "SIWA_SEALING_KEYS": f"{_SEALING_KEY_NAME}={key}",
    }


def account_id(number: int) -> bytes:
    """A UUID of version 7: in the order of time, as the service gives them."""
    return _uuid(number, hashlib.md5(str(number).encode()).hexdigest())


def _uuid(number: int, random: str) -> bytes:
    return bytes.fromhex(f"{EPOCH + number:012x}7{random[:3]}8{random[3:18]}")


class Grant:
    """What a person has granted to a client: one token family."""

    def __init__(self, client: Client, number: int) -> None:
        digest = hashlib.sha512(f"{client.id} {number}".encode())
        secret, random = digest.digest(), digest.hexdigest()
        self.id = _uuid(number, random)
        self.family_id = _uuid(number, random[18:])
        self.family_secret = secret[16:32]
        self.refresh_token = "siwa_rt_" + base64url(self.family_id + self.family_secret + bytes(4) + secret[32:])
        """The first of the token family."""


def code(number: int, index: int, client: Client) -> str:
    """One of the codes of an account."""
    return "siwa_ac_" + base64url(hashlib.sha256(f"code {client.scope} {number} {index}".encode()).digest())


def code_verifier(number: int) -> str:
    return base64url(hashlib.sha256(f"verifier {number}".encode()).digest())


def challenge(number: int) -> str:
    return base64url(hashlib.sha256(code_verifier(number).encode()).digest())


def _form(path: str, parameters: dict[str, str], authorization: str = "") -> bytes:
    body = urlencode(parameters)
    return (
        f"POST {path} HTTP/1.1\r\nHost: accounts.example.com\r\n{authorization}"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    ).encode()


def refresh(token: str, client: Client) -> bytes:
    parameters = {"grant_type": "refresh_token", "client_id": client.id, "refresh_token": token}
    return _form("/oauth/token", parameters if client.is_native else parameters | {"client_secret": SECRET})


def redemption(number: int, index: int, client: Client) -> bytes:
    return _form("/oauth/token", {
        "grant_type": "authorization_code", "client_id": client.id, "redirect_uri": LOOPBACK_URI,
        "code": code(number, index, client), "code_verifier": code_verifier(number)})


def introspection(token: str) -> bytes:
    return _form("/oauth/introspect", {"token": token}, f"Authorization: Bearer {API_KEY}\r\n")


def authorization(number: int, *, has_session: bool) -> bytes:
    """A browser at the authorization endpoint: signed in, or not."""
    parameters = {
        "client_id": WEB.id, "redirect_uri": REDIRECT_URI, "response_type": "code",
        "state": base64url(hashlib.md5(str(number).encode()).digest()), "scope": WEB.scope,
        "code_challenge": challenge(number), "code_challenge_method": "S256"}
    cookie = f"Cookie: __Host-siwa_session={_session(number)}\r\n" if has_session else ""
    return (
        f"GET /oauth/authorize?{urlencode(parameters, quote_via=quote)} HTTP/1.1\r\nHost: accounts.example.com\r\n"
        f"User-Agent: {_USER_AGENT}\r\nAccept: text/html,application/xhtml+xml\r\n"
        f"Accept-Language: en-GB,en;q=0.9\r\n{cookie}\r\n"
    ).encode()


def _session(number: int) -> str:
    """The cookie of a person who has just come from Apple. It lasts for a day here, and for ten minutes in service."""
    now = int(time.time() * 1000)
    session: dict[str, Any] = {
        "account": _prefixed("acc_", account_id(number)), "app": CLIENT_ID, "authenticated": now - 10_000,
        "expires": now + 86_400_000, "id": base64url(os.urandom(16)), "form_key": base64url(os.urandom(32))}
    return base64url(_seal(json.dumps(session, separators=(",", ":")).encode(), "oauth_session"))


def _prefixed(prefix: str, uuid: bytes) -> str:
    text = uuid.hex()
    return f"{prefix}{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _seal(plaintext: bytes, purpose: str) -> bytes:
    """The format of `Cryptography/SealingKeyRing.swift`."""
    name, salt, nonce = _SEALING_KEY_NAME.encode(), os.urandom(16), os.urandom(12)
    header = bytes([1, len(name)]) + name + salt
    extracted = hmac.digest(salt, _SEALING_KEY, "sha256")
    key = hmac.digest(extracted, f"siwa seal 1\n{purpose}".encode() + b"\x01", "sha256")
    return header + nonce + AESGCM(key).encrypt(nonce, plaintext, header + purpose.encode())


def spread(accounts: int, count: int) -> list[int]:
    """Numbers of so many accounts, evenly over all and in no order: neighbours stand on one page of a small database, and
    are not used together in service."""
    numbers = [index * accounts // count for index in range(count)]
    Random(1).shuffle(numbers)
    return numbers
