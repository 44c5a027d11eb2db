"""OAuth access tokens (RFC 9068), verified by siwa's public keys."""

import base64
import json
import re
import threading
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence

from .decoding import decode
from .errors import SiwaError
from .models import IntrospectionResponse
from .transport import Clock, Transport

LONGEST_TOKEN = 16_384
"""Characters. siwa's access tokens have about 700."""
LEEWAY = 60
"""Seconds by which the clocks may differ."""
FRESH, STALE = 3_600, 86_400
"""Seconds for which a key set is used, and for which it is used while siwa does not respond."""
COOL_DOWN, PAUSE_AFTER_FAILURE = 60, 5
"""Seconds between two requests for keys: anybody can invent key IDs."""


def bearer_token(bearer: Optional[str]) -> str:
    """The token in the header `Authorization` (RFC 6750 §2.1). Raises SiwaError `token_missing`."""
    match = re.fullmatch(r"bearer +([A-Za-z0-9._~+/-]+=*)", bearer or "", re.ASCII | re.IGNORECASE)
    if not match:
        raise SiwaError("token_missing", 401, "The request needs the header Authorization: Bearer TOKEN.")
    return match[1]


def check_audience_and_scopes(token: IntrospectionResponse, audience: str, scopes: Sequence[str]) -> None:
    """Raises SiwaError `audience_mismatch` or `scope_missing`."""
    if token.aud != audience:
        raise SiwaError("audience_mismatch", 401, "The token is for another API.")
    missing = set(scopes) - set((token.scope or "").split(" "))
    if missing:
        raise SiwaError("scope_missing", 403, f"The token lacks the scope {' '.join(sorted(missing))}.")


class _Key(NamedTuple):
    algorithm: str
    verify: Callable[[bytes, bytes], None]
    """Takes a signature and the signed bytes. Raises ValueError."""


class AccessTokens:
    """Verifies tokens of one issuer, and keeps its keys."""

    def __init__(self, transport: Transport, issuer: str, clock: Clock) -> None:
        self._transport, self._issuer, self._clock = transport, issuer, clock
        self._keys: Dict[str, _Key] = {}
        self._fetched_at = self._tried_at = float("-inf")
        self._lock = threading.Lock()

    def verify(self, token: str, audience: str, scopes: Sequence[str]) -> IntrospectionResponse:
        """See SiwaClient.verify_token."""
        if len(token) > LONGEST_TOKEN:
            raise SiwaError("token_too_large", 401, f"A token has at most {LONGEST_TOKEN} characters.")
        segments = token.split(".")
        if len(segments) != 3:
            raise _malformed("a token has three segments")
        header, signature = _object(segments[0]), _bytes(segments[2])
        # These change what is signed, or where the key comes from.
        if header.keys() & {"crit", "b64", "jwk", "jku", "x5u", "x5c"}:
            raise SiwaError("header_not_allowed", 401, "The header has a parameter that siwa never writes.")
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm not in ("ES256", "RS256"):
            raise SiwaError("algorithm_not_allowed", 401, "The algorithm must be ES256 or RS256.")
        # An ID token of the same issuer is no access token.
        if str(header.get("typ")).lower() not in ("at+jwt", "application/at+jwt"):
            raise SiwaError("not_an_access_token", 401, "The typ of an access token is at+jwt.")
        if not isinstance(kid, str) or not 1 <= len(kid) <= 64:
            raise SiwaError("key_id_invalid", 401, "The kid must be a text of 1 to 64 characters.")
        key = self._key(kid)
        # The key decides about the algorithm, and the token cannot choose another one.
        if key.algorithm != algorithm:
            raise SiwaError("algorithm_not_allowed", 401, f"The key is for {key.algorithm}.")
        try:
            key.verify(signature, f"{segments[0]}.{segments[1]}".encode())
        except ValueError:
            raise SiwaError("signature_invalid", 401, "The signature is not by the key that the kid names.") from None
        return self._checked(_object(segments[1]), audience, scopes)

    def _checked(self, claims: Dict[str, Any], audience: str, scopes: Sequence[str]) -> IntrospectionResponse:
        for name in ("iss", "aud", "sub", "client_id", "iat", "exp", "jti"):
            if name not in claims:
                raise SiwaError("claim_missing", 401, f"The token lacks {name}.")
        if claims["iss"] != self._issuer:
            raise SiwaError("issuer_mismatch", 401, "The token is of another issuer: check SIWA_ISSUER.")
        # The only audience is a text. An array is not siwa's.
        if claims["aud"] != audience:
            raise SiwaError("audience_mismatch", 401, "The token is for another API.")
        times = [claims["exp"], claims["iat"], claims.get("nbf", 0)]
        if any(type(time) is not int or not 0 <= time < 1 << 53 for time in times) or not claims["sub"]:
            raise SiwaError("claim_malformed", 401, "A claim has another type, or is out of range.")
        expires, issued, begins = times
        now = self._clock.now()
        if now >= expires + LEEWAY:
            raise SiwaError("token_expired", 401, "The token has expired.")
        if begins > now + LEEWAY:
            raise SiwaError("token_not_yet_valid", 401, "The token is not valid yet.")
        if issued > now + LEEWAY:
            raise SiwaError("issued_in_future", 401, "The token is of the future: check the clock.")
        try:
            token = decode(IntrospectionResponse, {**claims, "active": True, "token_type": "Bearer"})
        except ValueError as error:
            raise SiwaError("claim_malformed", 401, str(error)) from None
        check_audience_and_scopes(token, audience, scopes)
        return token

    def _key(self, kid: str) -> _Key:
        key = self._keys.get(kid)
        if key and self._is_within(FRESH):
            return key
        # One request at a time. A caller with a known key does not wait for it.
        if not self._lock.acquire(blocking=not (key and self._is_within(STALE))):
            assert key
            return key
        try:
            now = self._clock.now()
            has_failed = self._tried_at != self._fetched_at
            if not (kid in self._keys and self._is_within(FRESH)) and not (
                    0 <= now - self._tried_at < (PAUSE_AFTER_FAILURE if has_failed else COOL_DOWN)):
                self._tried_at = now
                try:
                    self._keys, self._fetched_at, has_failed = self._fetch(), now, False
                except SiwaError:
                    has_failed = True  # the old keys stay
            key = self._keys.get(kid)
            if key and self._is_within(STALE):
                return key
            if has_failed:
                pause = max(1, round(PAUSE_AFTER_FAILURE - (now - self._tried_at)))
                raise SiwaError("keys_unavailable", 503, "siwa's keys could not be fetched.", retry_after=pause)
            raise SiwaError("unknown_key", 401, "siwa has no key with this kid.")
        finally:
            self._lock.release()

    def _is_within(self, seconds: float) -> bool:
        return 0 <= self._clock.now() - self._fetched_at < seconds

    def _fetch(self) -> Dict[str, _Key]:
        response = self._transport.call("GET", "/oauth/jwks.json", has_key=False, timeout=5, attempts=1)
        entries = (response or {}).get("keys")  # 204 has no body
        keys = {}
        for entry in entries if isinstance(entries, list) else []:
            try:
                if isinstance(entry["kid"], str):
                    keys[entry["kid"]] = _usable(entry)
            except (ValueError, KeyError, TypeError, SiwaError):
                continue  # a key of another kind
        if not keys:
            raise SiwaError("unexpected_response", 200, "The key set has no usable key.")
        return keys


def _usable(entry: Any) -> _Key:
    """A key for signatures. Raises ValueError for any other."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
        from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
    except ImportError:
        raise RuntimeError("verify_token needs the extra: pip install 'siwa-client[tokens]'") from None

    def number(name: str) -> int:
        return int.from_bytes(_bytes(entry[name]), "big")

    kind = (entry["kty"], entry["alg"], entry["use"])
    if kind == ("EC", "ES256", "sig") and entry["crv"] == "P-256":
        point = ec.EllipticCurvePublicNumbers(number("x"), number("y"), ec.SECP256R1()).public_key()

        def verify_es256(signature: bytes, message: bytes) -> None:
            if len(signature) != 64:
                raise ValueError
            parts = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
            try:
                point.verify(encode_dss_signature(*parts), message, ec.ECDSA(hashes.SHA256()))
            except InvalidSignature:
                raise ValueError from None

        return _Key("ES256", verify_es256)
    if kind == ("RSA", "RS256", "sig") and number("n").bit_length() >= 2048 and number("e") == 65_537:
        public = rsa.RSAPublicNumbers(65_537, number("n")).public_key()

        def verify_rs256(signature: bytes, message: bytes) -> None:
            try:
                public.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())
            except InvalidSignature:
                raise ValueError from None

        return _Key("RS256", verify_rs256)
    raise ValueError


def _bytes(segment: Any) -> bytes:
    """Strict base64url (RFC 7515 §2): no padding, no other alphabet, no stray bits."""
    if isinstance(segment, str) and re.fullmatch("[A-Za-z0-9_-]+", segment) and len(segment) % 4 != 1:
        data = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
        if base64.urlsafe_b64encode(data).rstrip(b"=").decode() == segment:
            return data
    raise _malformed("a segment is not base64url")


def _object(segment: str) -> Dict[str, Any]:
    try:
        value = json.loads(_bytes(segment).decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise _malformed("a segment is not a JSON object")
    return value


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _malformed(detail: str) -> SiwaError:
    return SiwaError("token_malformed", 401, f"Not a signed token: {detail}.")
