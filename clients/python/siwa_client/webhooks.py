"""Webhooks in the form of Standard Webhooks."""

import base64
import binascii
import hashlib
import hmac
import json
import re
from typing import List, Mapping

from .decoding import decode
from .errors import SiwaError
from .models import Event

LONGEST_BODY = 65_536
"""Bytes of a body. An event has some hundreds."""
TOLERANCE = 300
"""Seconds by which the clocks may differ. An older message is a replay."""


def webhook_keys(secrets: str) -> List[bytes]:
    """The keys of one secret, or of several secrets with spaces between them during a rotation. Raises ValueError."""
    keys = []
    for secret in secrets.split():
        try:
            key = base64.b64decode(secret[len("whsec_"):], validate=True)
        except binascii.Error:
            key = b""
        # Anybody can sign with an empty key. The bounds are those of Standard Webhooks.
        if not secret.startswith("whsec_") or not 24 <= len(key) <= 64:
            raise ValueError("SIWA_WEBHOOK_SECRETS: a secret must be whsec_ and 24 to 64 bytes in base64")
        keys.append(key)
    if not keys:
        raise ValueError("SIWA_WEBHOOK_SECRETS: the client needs a secret")
    return keys


def verified_event(headers: Mapping[str, str], raw_body: bytes, keys: List[bytes], now: float) -> Event:
    """See SiwaClient.verify_webhook."""
    if len(raw_body) > LONGEST_BODY:
        raise SiwaError("body_too_large", 413, f"A webhook has at most {LONGEST_BODY} bytes.")
    fields = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp, signatures = (
        fields.get(f"webhook-{name}") or "" for name in ("id", "timestamp", "signature"))
    if (not re.fullmatch("[A-Za-z0-9_-]{1,64}", message_id) or not re.fullmatch("[0-9]{1,12}", timestamp)
            or not signatures):
        raise SiwaError("webhook_headers_invalid", 400, "The headers webhook-id, -timestamp and -signature are needed.")
    if abs(now - int(timestamp)) > TOLERANCE:
        raise SiwaError("webhook_time_invalid", 400, f"The message is more than {TOLERANCE} s from now: check the clock.")
    message = f"{message_id}.{timestamp}.".encode() + raw_body
    found = [signature.encode() for signature in signatures.split(" ")]
    expected = [b"v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()) for key in keys]
    # In constant time, so that the time of a refusal reveals nothing about the signature.
    if not any([hmac.compare_digest(left, right) for left in expected for right in found]):
        raise SiwaError("webhook_signature_invalid", 401, "No signature is by a secret of this receiver.")
    try:
        return decode(Event, json.loads(raw_body))
    except (ValueError, RecursionError):
        raise SiwaError("event_malformed", 400, "The body is not an event.") from None
