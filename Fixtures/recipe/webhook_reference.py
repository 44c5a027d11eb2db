"""Judges the webhooks again. The code comes from openssl, and every step is read from the specification anew."""

import base64
import string
import subprocess

from cases import seconds


def code_of(key, message):
    """HMAC-SHA-256 by the openssl command (RFC 2104)."""
    command = ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{key.hex()}", "-binary"]
    return subprocess.run(command, input=message, capture_output=True, check=True).stdout


def key_of(secret):
    scheme, mark, text = secret.partition("_")
    if scheme != "whsec" or mark != "_" or set(text) - set(string.ascii_letters + string.digits + "+/="):
        return None
    return base64.b64decode(text)


def judge(case):
    """The verdict, with the code of a refusal."""
    keys = [key_of(secret) for secret in case["secrets"].split(" ")]
    if any(key is None or not 24 <= len(key) <= 64 for key in keys):
        return "misconfigured", None
    body = "".join(part["text"] * part.get("times", 1) for part in case.get("body_parts", [])) or case.get("body", "")
    body = body.encode()
    if len(body) > 2 ** 16:
        return "refused", "body_too_large"
    fields = [case["headers"].get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature")]
    allowed = string.ascii_letters + string.digits + "-_"
    if (not all(fields) or len(fields[0]) > 64 or set(fields[0]) - set(allowed) or len(fields[1]) > 12
            or set(fields[1]) - set(string.digits)):
        return "refused", "webhook_headers_invalid"
    if not -300 <= seconds(case["at"]) - int(fields[1]) <= 300:
        return "refused", "webhook_time_invalid"
    message = b".".join([fields[0].encode(), fields[1].encode(), body])
    codes = {base64.b64encode(code_of(key, message)).decode() for key in keys}
    for signature in fields[2].split(" "):
        version, _, code = signature.partition(",")
        if version == "v1" and code in codes:
            return "accepted", None
    return "refused", "webhook_signature_invalid"
