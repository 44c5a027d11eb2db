"""Webhooks in the form of Standard Webhooks, as a receiver meets them: good ones, and what it must refuse."""

import base64
import hashlib
import hmac

from cases import AT, Without, changed, rfc3339
from jws import json_bytes

WEBHOOKS = {}

OLD = "whsec_" + base64.b64encode(bytes(range(32))).decode()
NEW = "whsec_" + base64.b64encode(bytes(range(100, 132))).decode()
STRANGE = "whsec_" + base64.b64encode(b"not the secret of the receiver!!").decode()
ID = "evt_01a1fbea-fd31-70c4-8d21-64a7bb3d2a10"
EVENT = {
    "id": ID, "type": "credential_revoked", "team_id": "SIWADEV000", "sub": "001847.6f1d0c2b9a8e4d7f.0930",
    "account_id": "acc_01a1fbea-fd2f-7a50-9d0c-0f6e2a4c1b77", "client_id": "com.example.app",
    "reason": "consent_revoked", "source": "notification", "occurred_at": "2026-03-14T09:29:58.622Z",
    "recorded_at": "2026-03-14T09:29:59.101Z",
}
BODY = json_bytes(EVENT).decode()


def sign(secret, message_id=ID, timestamp=AT, body=BODY):
    key = base64.b64decode(secret[len("whsec_"):])
    message = f"{message_id}.{timestamp}.{body}".encode()
    return "v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode()


def put(name, summary, code=None, secrets=OLD, at=AT, body=BODY, verdict=None, **fields):
    """A case. `fields` change the headers; by default they are those of a good message by the old secret."""
    headers = changed({
        "webhook-id": ID, "webhook-timestamp": str(AT), "webhook-signature": sign(OLD),
    }, {f"webhook-{field}": value for field, value in fields.items()})
    assert name not in WEBHOOKS, f"two cases are called {name}"
    case = {"summary": summary, "secrets": secrets, "at": rfc3339(at), "headers": headers}
    case.update({"body": body} if isinstance(body, str) else {"body_parts": body})
    case["verdict"] = verdict or ("accepted" if code is None else "refused")
    if case["verdict"] == "accepted":
        case["id"] = headers["webhook-id"]
    if code is not None:
        case["code"] = code
    WEBHOOKS[name] = case


HEADERS, TIME = "webhook_headers_invalid", "webhook_time_invalid"
SIGNATURE, SIZE = "webhook_signature_invalid", "body_too_large"


put("accepted", "As siwa sends it.")
put("accepted-two-signatures", "During a rotation siwa signs by both secrets; the receiver has the old one.",
    signature=f"{sign(OLD)} {sign(NEW)}")
put("accepted-two-signatures-new-secret", "The receiver has the new one already.", secrets=NEW,
    signature=f"{sign(OLD)} {sign(NEW)}")
put("accepted-two-secrets-old-signature", "The receiver has both secrets, and siwa still the old one.",
    secrets=f"{NEW} {OLD}")
put("accepted-two-secrets-new-signature", "The receiver has both secrets, and siwa only the new one.",
    secrets=f"{OLD} {NEW}", signature=sign(NEW))
put("accepted-other-version-beside", "Standard Webhooks has signatures of other versions. A receiver skips them.",
    signature=f"v1a,{'A' * 86}== {sign(OLD)}")
put("accepted-300-seconds-old", "The last second in which the message is good.",
    timestamp=str(AT - 300), signature=sign(OLD, timestamp=AT - 300))
put("accepted-300-seconds-ahead", "The clock of siwa may run ahead by as much.",
    timestamp=str(AT + 300), signature=sign(OLD, timestamp=AT + 300))
put("accepted-unicode", "The bytes of the body are signed, in UTF-8.", body='{"name":"Zo\u00eb \U0001f34f"}',
    signature=sign(OLD, body='{"name":"Zo\u00eb \U0001f34f"}'))
put("accepted-65536-bytes", "The longest body that is read.", body=[{"text": "x", "times": 65_536}],
    signature=sign(OLD, body="x" * 65_536))

put("secret-wrong", "Signed by somebody else.", SIGNATURE, signature=sign(STRANGE))
put("secret-wrong-of-two", "Two signatures, and none by a secret of the receiver.", SIGNATURE,
    signature=f"{sign(STRANGE)} {sign(NEW)}")
put("secret-of-the-receiver-rotated-away", "The receiver has dropped the old secret.", SIGNATURE, secrets=NEW)
put("body-changed", "Another account would lose its sessions.", SIGNATURE, body=BODY.replace("fd2f", "fd2e"))
put("body-with-white-space", "The same JSON in other bytes: the bytes are signed.", SIGNATURE, body=BODY + " ")
put("body-empty", "The body was lost.", SIGNATURE, body="")
put("body-of-65537-bytes", "Longer than is read, although the signature is good.", SIZE,
    body=[{"text": "x", "times": 65_537}], signature=sign(OLD, body="x" * 65_537))
put("id-changed", "A replay under another ID would pass for another event.", SIGNATURE,
    id="evt_01a1fbea-fd31-70c4-8d21-64a7bb3d2a11")
put("id-with-dot", "The dot moves a part of the ID into the timestamp: the signed bytes are the same.", HEADERS,
    id=f"{ID}.{AT}", timestamp="1", signature=sign(OLD, body=f"1.{BODY}"))
put("id-of-65-characters", "Longer than an ID is: it becomes a key of a table.", HEADERS, id="e" * 65,
    signature=sign(OLD, message_id="e" * 65))
put("id-with-newline", "A pattern that ends at a newline accepts this.", HEADERS, id=f"{ID}\n",
    signature=sign(OLD, message_id=f"{ID}\n"))
put("id-empty", "Nothing to recognize a repetition by.", HEADERS, id="", signature=sign(OLD, message_id=""))
put("id-missing", "The header is not there.", HEADERS, id=Without)
put("timestamp-missing", "The header is not there.", HEADERS, timestamp=Without)
put("signature-missing", "The header is not there.", HEADERS, signature=Without)
put("signature-empty", "The header has no value.", HEADERS, signature="")
put("timestamp-changed", "A replay under another time.", SIGNATURE, timestamp=str(AT + 1))
put("timestamp-stale", "A replay of a message that was good.", TIME, at=AT + 301)
put("timestamp-future", "A message for later.", TIME, at=AT - 301)
put("timestamp-of-a-year-ago", "A replay of a message that was good.", TIME, at=AT + 365 * 86_400)
for name, value in [
    ("word", "now"), ("negative", f"-{AT}"), ("fraction", f"{AT}.0"), ("space", f" {AT}"), ("hexadecimal", hex(AT)),
    ("exponent", "1e9"), ("thirteen-digits", f"{AT}000"), ("newline", f"{AT}\n"), ("infinity", "Infinity"),
    ("other-digits", "".join(chr(0x0660 + int(digit)) for digit in str(AT))),
]:
    put(f"timestamp-{name}", "No time in seconds.", HEADERS, timestamp=value, signature=sign(OLD, timestamp=value))
for name, value in [
    ("garbage", "garbage"), ("not-base64", "v1,***"), ("without-version", sign(OLD)[3:]),
    ("of-another-version", sign(OLD).replace("v1,", "v2,")), ("version-in-capitals", sign(OLD).replace("v1", "V1")),
    ("cut-off", sign(OLD)[:-5]), ("with-more", sign(OLD)[:-1] + "AA=="), ("prefix-only", "v1,"), ("spaces", "   "),
    ("not-ascii", "v1,\u00e9\u00e9\u00e9"), ("with-comma-between", f"{sign(STRANGE)},{sign(OLD)}"),
    ("hexadecimal", "v1," + base64.b64decode(sign(OLD)[3:]).hex()),
    ("many", " ".join([sign(STRANGE)] * 100)),
]:
    put(f"signature-{name}", "No signature by the secret in the form of Standard Webhooks.", SIGNATURE,
        signature=value)
put("signature-of-the-body-alone", "Without ID and time any message could be replayed.", SIGNATURE,
    signature="v1," + base64.b64encode(hmac.new(base64.b64decode(OLD[6:]), BODY.encode(), "sha256").digest()).decode())
put("signature-keyed-with-text", "The key is what the secret says in base64, not its text.", SIGNATURE,
    signature="v1," + base64.b64encode(
        hmac.new(OLD.encode(), f"{ID}.{AT}.{BODY}".encode(), "sha256").digest()).decode())

for name, value, summary in [
    ("without-prefix", OLD[6:], "siwa makes no such secret: found at the start, and not at the first event."),
    ("prefix-only", "whsec_", "Anybody can sign with an empty key."),
    ("too-short", "whsec_c2hvcnQ=", "Less than 24 bytes can be guessed."),
    ("not-base64", "whsec_" + "!" * 44, "The key cannot be read."),
    ("one-of-two-malformed", f"{OLD} {OLD[6:]}", "Both of two secrets must be right."),
]:
    put(f"misconfigured-secret-{name}", summary, secrets=value, verdict="misconfigured")
