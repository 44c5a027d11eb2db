"""App Attest: attestations and assertions as genuine devices make them, under the root of the fake Apple.

Its private key is public. Like Apple's, the intermediate certificate has a key on P-384: its signature over a leaf is
most of the cost of an attestation."""

import base64
import hashlib
import json
import re
import shutil
import sqlite3
import struct
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from .oauth_subjects import answered
from .processes import BenchError, Server
from .stores import fill_sqlite
from .subjects import Stage, Subject, ask
from .tokens import API_KEY, CLIENT_ID, TEAM_ID, TOKENS, RequestFiles, base64url, read_requests, write_requests

SUBJECTS = ["attestation", "sign-in-attested"]
_TITLES = {
    "attestation": "siwa, attestation of a new key, durable, SQLite",
    "sign-in-attested": "siwa, sign-in with an assertion, durable, SQLite",
}
_PER_SECOND = {"attestation": 2_000, "sign-in-attested": 10_000}
"""Requests that can be sent once only, for each second of a run. A repeated request counts as an error."""
_KEYS = 2_000
_APP = hashlib.sha256(f"{TEAM_ID}.{CLIENT_ID}".encode()).digest()
_FAKE_ROOT = Path(__file__).parents[2] / "Sources/Fakes/AppleEmulator/AppAttest/AppAttestAuthorities.swift"
_NONCE = x509.ObjectIdentifier("1.2.840.113635.100.8.2")
# Of about the size of Apple's. Nothing reads it, because receipts are not exchanged.
_RECEIPT = bytes(3_600)


class Device:
    """A key of App Attest."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.public_key = self._key.public_key()
        self.point = self.public_key.public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
        self.id = hashlib.sha256(self.point).digest()

    def assertion(self, client_data: str, counter: int) -> bytes:
        data = _APP + b"\x40" + struct.pack(">I", counter)
        nonce = hashlib.sha256(data + hashlib.sha256(client_data.encode()).digest()).digest()
        signature = self._key.sign(nonce, ec.ECDSA(hashes.SHA256()))
        return _map([(_text("signature"), _bytes(signature)), (_text("authenticatorData"), _bytes(data))])

    def authenticator_data(self) -> bytes:
        x, y = self.point[1:33], self.point[33:]
        cose = _map([
            (b"\x01", b"\x02"), (b"\x03", b"\x26"), (b"\x20", b"\x01"), (b"\x21", _bytes(x)), (b"\x22", _bytes(y))])
        return _APP + b"\x40" + bytes(4) + b"appattestdevelop" + b"\x00\x20" + self.id + cose


class Authority:
    """The intermediate certificate, and the certificates that it issues."""

    def __init__(self) -> None:
        key, certificate = (
            base64.b64decode("".join(text.replace("\\", "").split()))
            for text in re.findall(r'(?:privateKey|certificate): """(.*?)"""', _FAKE_ROOT.read_text(), re.DOTALL)[:2])
        root_key = serialization.load_der_private_key(key, None)
        if not isinstance(root_key, ec.EllipticCurvePrivateKey):
            raise BenchError(f"{_FAKE_ROOT.name} has another key")
        root = x509.load_der_x509_certificate(certificate)
        self._key = ec.generate_private_key(ec.SECP384R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Benchmark CA 1")])
        builder = _certificate(self._name, root.subject, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(True, 0), True)
        self._der = builder.sign(root_key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)

    def attestation(self, device: Device, challenge: str) -> bytes:
        data = device.authenticator_data()
        nonce = hashlib.sha256(data + hashlib.sha256(challenge.encode()).digest()).digest()
        builder = _certificate(
            x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, device.id.hex())]), self._name, device.public_key)
        builder = builder.add_extension(x509.BasicConstraints(False, None), True)
        builder = builder.add_extension(
            x509.UnrecognizedExtension(_NONCE, bytes.fromhex("3024a1220420") + nonce), False)
        leaf = builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)
        statement = _map([
            (_text("x5c"), b"\x82" + _bytes(leaf) + _bytes(self._der)), (_text("receipt"), _bytes(_RECEIPT))])
        return _map([
            (_text("fmt"), _text("apple-appattest")), (_text("attStmt"), statement), (_text("authData"), _bytes(data))])


def subject(name: str, stage: Stage, requests: RequestFiles, seconds: int) -> Subject:
    """Each run has a new database, and requests with challenges of its own, which are good for five minutes."""
    environment = _environment(stage.directory / "app-attest.yaml", _served(stage.key.key_set))
    template = stage.database(f"{name}-template")
    server, port = stage.sqlite(f"{name}-template", environment)
    server.end()
    fill_sqlite(template, TOKENS)
    devices = [Device() for _ in range(_KEYS)] if name == "sign-in-attested" else []
    _fill_keys(template, devices)
    tokens = [
        json.loads(request.partition(b"\r\n\r\n")[2])["identity_token"] for request in read_requests(requests.sign_in)]
    authority = Authority()
    path = stage.directory / f"{name}.requests"
    running: list[Server] = []

    def renew() -> tuple[Server, int]:
        if running:
            running.pop().end()
        database = stage.database(name)
        for ending in ("", "-wal", "-shm"):
            database.with_name(database.name + ending).unlink(missing_ok=True)
        shutil.copyfile(template, database)
        server, port = stage.sqlite(name, environment)
        running.append(server)
        count = _PER_SECOND[name] * seconds
        made = (
            _attestations(port, authority, count) if name == "attestation"
            else _sign_ins(port, devices, tokens, count))
        status, body = ask(port, next(made))
        if status not in (200, 201) or name != "attestation" and b'"kind":"verified"' not in body:
            raise BenchError(f"{name}: {status} {body!r}")
        write_requests(path, made)
        return server, port

    return Subject(name, _TITLES[name], server, port, path, renew=renew)


def _attestations(port: int, authority: Authority, count: int) -> Iterator[bytes]:
    for challenge in _challenges(port, "attestation", count):
        device = Device()
        yield _post("/v1/app-attest/keys", {
            "attestation": base64.b64encode(authority.attestation(device, challenge)).decode(),
            "key_id": base64.b64encode(device.id).decode(), "challenge": challenge, "client_id": CLIENT_ID})


def _sign_ins(port: int, devices: list[Device], tokens: list[str], count: int) -> Iterator[bytes]:
    for number, challenge in enumerate(_challenges(port, "assertion", count)):
        # A key comes again only after all others, so that its counters arrive in order.
        device, token = devices[number % len(devices)], tokens[number % len(tokens)]
        digest = base64url(hashlib.sha256(token.encode()).digest())
        client_data = json.dumps({"challenge": challenge, "sha256": digest}, separators=(",", ":"))
        assertion = device.assertion(client_data, number // len(devices) + 1)
        yield _post("/v1/sign-ins", {"identity_token": token, "attestation": {
            "key_id": base64.b64encode(device.id).decode(), "assertion": base64.b64encode(assertion).decode(),
            "client_data": client_data}})


def _challenges(port: int, purpose: str, count: int) -> Iterator[str]:
    request = _post("/v1/app-attest/challenges", {"purpose": purpose, "client_id": CLIENT_ID})
    # One more for the request that is sent before the run.
    return (json.loads(body)["challenge"] for body in answered(port, [request] * (count + 1)))


def _post(path: str, body: dict[str, object]) -> bytes:
    text = json.dumps(body, separators=(",", ":"))
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {API_KEY}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}"
    ).encode()


def _served(key_set: Path) -> str:
    """The base URL of a server with the key set. The service asks once: the root of the fake Apple is trusted only
    together with its keys."""
    content = key_set.read_bytes()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}"


def _environment(configuration: Path, keys: str) -> dict[str, str]:
    configuration.write_text(f"""
teams:
  - team_id: {TEAM_ID}
    apps:
      - client_ids: [{CLIENT_ID}]
        app_attest:
          - bundle_id: {CLIENT_ID}
            app_check: enforced
            environment: development
""")
    return {
        "SIWA_CONFIG": str(configuration), "SIWA_ENV": "development", "APPLE_BASE_URL": keys,
        "APPLE_KEYS_FILE": "", "APPLE_TEAM_ID": "", "APPLE_CLIENT_IDS": ""}


def _fill_keys(path: Path, devices: list[Device]) -> None:
    now = int(time.time() * 1000)
    database = sqlite3.connect(path)
    with database:
        database.executemany(
            "INSERT INTO app_attest_key (key_id, app_id, public_key, environment, counter, created_at, used_at) "
            "VALUES (?, ?, ?, 1, 0, ?, ?)",
            ((device.id, f"{TEAM_ID}.{CLIENT_ID}", device.point, now, now) for device in devices))
    database.close()


def _certificate(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey,
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
        .serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=30)))


def _head(kind: int, size: int) -> bytes:
    if size < 24:
        return bytes([kind << 5 | size])
    if size < 256:
        return bytes([kind << 5 | 24, size])
    return bytes([kind << 5 | 25]) + struct.pack(">H", size)


def _bytes(value: bytes) -> bytes:
    return _head(2, len(value)) + value


def _text(value: str) -> bytes:
    return _head(3, len(value)) + value.encode()


def _map(members: list[tuple[bytes, bytes]]) -> bytes:
    return _head(5, len(members)) + b"".join(key + value for key, value in members)
