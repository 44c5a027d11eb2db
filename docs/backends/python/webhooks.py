"""Verifies webhooks in the form of Standard Webhooks, with the standard library of Python 3.9 or later."""
import base64, binascii, hashlib, hmac, re, time

LONGEST = 65_536  # bytes in a body. An event from siwa has a few hundred
TOLERANCE = 300  # seconds by which the clocks may differ. An older message is a replay


class Refused(Exception):
    """A message that is not from siwa, or not recent. The text repeats nothing from the message."""
    def __init__(self, status, code):
        super().__init__(code)
        self.status, self.code = status, code


def keys(secrets):
    """The keys of one secret, or of two with a space between them during a rotation."""
    result = []
    for secret in secrets.split():
        try:
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except binascii.Error:
            key = b""
        # Anybody can sign with an empty key.
        if not secret.startswith("whsec_") or len(key) < 24:
            raise ValueError("a secret must be whsec_ and at least 24 bytes in base64")
        result.append(key)
    return result


def verify(headers, body, keys, now=None):
    """Returns the ID of the message, which is the same for each delivery. Raises Refused.

    headers: a mapping that finds names in lower case. body: the bytes as they arrived.
    """
    if len(body) > LONGEST:
        raise Refused(413, "body_too_large")
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    message_id, timestamp, signatures = (headers.get(name) or "" for name in names)
    if (not re.fullmatch("[A-Za-z0-9_-]{1,64}", message_id) or not re.fullmatch("[0-9]{1,12}", timestamp)
            or not signatures):
        raise Refused(400, "webhook_headers_invalid")
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE:
        raise Refused(400, "webhook_time_invalid")
    message = f"{message_id}.{timestamp}.".encode() + body
    given = [signature.encode() for signature in signatures.split(" ")]
    for key in keys:
        right = b"v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest())
        # Compares in constant time, so that timing reveals nothing about the signature.
        if any(hmac.compare_digest(right, signature) for signature in given):
            return message_id
    raise Refused(401, "webhook_signature_invalid")
