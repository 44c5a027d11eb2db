"""Vectors of OAuth access tokens, good and bad, and of the cache of siwa's keys."""

from cases import AT, Without, changed, rfc3339
from client_cases import ACCOUNT_ID, CLIENT_KEYS, CLIENT_TOKENS, call, exchange, ok, page, refusal, vector
from jws import Pairs, Raw, base64url, compact, json_bytes, segments, signing_input, with_stray_bits
from keys import ec_jwk, es256, hs256, rsa

ISSUER, API = "https://signin.example.com", "https://api.example.com"
EC, RSA = ec_jwk("ecSigner01"), rsa("signer-1").jwk("rsaSigner1")
SIGNERS = {"ES256": es256, "RS256": rsa("signer-1").sign}
CURRENT = [EC, RSA]
FETCH = {"method": "GET", "target": "/oauth/jwks.json", "headers": {"authorization": None}}


def keys(*entries, **more):
    return exchange(FETCH, ok({"keys": list(entries or CURRENT)}, **more))


def header(alg="ES256", **changes):
    return changed({"typ": "at+jwt", "alg": alg, "kid": {"ES256": "ecSigner01"}.get(alg, "rsaSigner1")}, changes)


def claims(**changes):
    return changed({
        "iss": ISSUER, "sub": ACCOUNT_ID, "aud": API, "client_id": "shop", "iat": AT - 60, "exp": AT + 3540,
        "jti": "01a1fbea-fd31-7c11-8a3b-0e1c2d3f4a5b", "scope": "openid email", "auth_time": AT - 600}, changes)


def token(payload=None, head=None):
    head = header() if head is None else head
    payload = claims() if payload is None else payload
    return compact(head, payload, SIGNERS[head["alg"]](signing_input(head, payload)))


GOOD = token()
HEAD, PAYLOAD, SIGNATURE = segments(GOOD)
READ = {"sub": ACCOUNT_ID, "client_id": "shop", "scope": "openid email", "exp": AT + 3540, "iat": AT - 60, "aud": API,
        "iss": ISSUER, "active": True, "token_type": "Bearer", "auth_time": AT - 600}


def step(value, returns=None, error=None, scopes=("email",), **more):
    value = value if value is None or value.lower().startswith(("bearer", "basic")) else f"Bearer {value}"
    return call("verify_token", {"bearer": value, "audience": API, "scopes": list(scopes)}, returns, error, **more)


def refused(code):
    return {"code": code, "status": 403 if code == "scope_missing" else 401, "request_id": None}


def case(name, summary, value, code=None, returns=None, key_set=(), scopes=("email",), at=AT, fetches=True):
    """A token of which the client must know the keys. `fetches` is False where it must not even ask for them."""
    result = {"error": refused(code)} if code else {"returns": {**READ, **(returns or {})}}
    vector(CLIENT_TOKENS, name if code else f"accepted-{name}", summary, [keys(*key_set)] if fetches else [],
           [step(value, **result, scopes=scopes)], at)


def claim(name, summary, code, **changes):
    case(name, summary, token(claims(**changes)), code)


# Accepted.
case("es256", "As siwa signs by default.", GOOD)
case("rs256", "A client with this algorithm.", token(head=header("RS256")))
case("bearer-in-lower-case", "The scheme has no case (RFC 9110 §11.1).", f"bearer {GOOD}")
case("typ-as-media-type", "The long form (RFC 9068 §2.1).", token(head=header(typ="application/at+jwt")))
case("typ-in-capitals", "Media types have no case.", token(head=header(typ="AT+JWT")))
case("all-scopes", "The order of scopes means nothing.", GOOD, scopes=("email", "openid"))
case("without-needed-scope", "The API needs no scope.", token(claims(scope=Without)), returns={"scope": None}, scopes=())
case("expired-within-leeway", "59 seconds after exp.", token(claims(exp=AT - 59)), returns={"exp": AT - 59})
case("iat-ahead-by-leeway", "The clock of siwa may run ahead by a minute.", token(claims(iat=AT + 60)), returns={"iat": AT + 60})
case("nbf-in-the-past", "It has begun.", token(claims(nbf=AT - 1)))
case("unknown-claims", "Claims that a client does not know are skipped.", token(claims(cnf={"jkt": "x"}, x=[1])))
case("unknown-header", "Parameters that change nothing.", token(head=header(x=1)))
case("key-beside-strangers", "Keys of other kinds are skipped.", GOOD, key_set=(
    {"kty": "OKP", "kid": "okp1", "use": "sig", "alg": "EdDSA", "crv": "Ed25519", "x": base64url(bytes(32))}, {}, 7,
    {**EC, "kid": 7}, {**EC, "kid": "ecSigner02", "crv": "P-384"}, EC))

# The form of a token, which is refused without a request for keys.
for name, value in [("missing", None), ("empty", "Bearer"), ("basic", "Basic c2hvcDpz"), ("of-two", f"Bearer {GOOD} {GOOD}"),
                    ("with-comma", f"Bearer {GOOD},{GOOD}"), ("with-newline", f"Bearer {GOOD}\n")]:
    case(f"bearer-{name}", "No header with one token.", value, "token_missing", fetches=False)
for name, value in [
    ("segments-two", f"{HEAD}.{PAYLOAD}"), ("segments-four", f"{GOOD}.{SIGNATURE}"), ("segments-one", "abc"),
    ("signature-empty", f"{HEAD}.{PAYLOAD}."), ("header-empty", f".{PAYLOAD}.{SIGNATURE}"),
    ("base64-padded", f"{GOOD}=="), ("base64-plus", f"{HEAD}.{PAYLOAD}.+{SIGNATURE[1:]}"),
    ("base64-stray-bits", f"{HEAD}.{PAYLOAD}.{with_stray_bits(SIGNATURE)}"),
    ("header-not-json", f"{base64url(b'{')}.{PAYLOAD}.{SIGNATURE}"),
    ("header-array", f"{base64url(b'[]')}.{PAYLOAD}.{SIGNATURE}"),
    ("header-invalid-utf-8", f"{base64url(bytes([0x7B, 0xFF, 0x7D]))}.{PAYLOAD}.{SIGNATURE}"),
]:
    case(name, "Not a token in compact serialization.", value, "token_malformed", fetches=False)
case("too-large", "Longer than any token of siwa.", f"{HEAD}.{'A' * 16_384}.{SIGNATURE}", "token_too_large", fetches=False)

# The header.


def forged(name, summary, code, head, signature=None, payload=None, fetches=False, key_set=()):
    payload = claims() if payload is None else payload
    value = f"{signing_input(head, payload)}.{base64url(es256(signing_input(head, payload)) if signature is None else signature)}"
    case(name, summary, value, code, fetches=fetches, key_set=key_set)


ALGORITHM = "algorithm_not_allowed"
forged("alg-none", "Nothing is signed.", ALGORITHM, header(alg="none"), b"\0")
forged("alg-none-in-capitals", "Nothing is signed.", ALGORITHM, header(alg="NONE"), b"\0")
forged("alg-missing", "The token names no algorithm.", ALGORITHM, header(alg=Without))
forged("alg-es256-in-lower-case", "Another name.", ALGORITHM, header(alg="es256"))
forged("alg-array", "Not a text.", ALGORITHM, {**header(), "alg": ["ES256"]})
HMAC_HEAD = {**header("RS256"), "alg": "HS256"}
forged("alg-hs256-keyed-with-public-pem", "The public key as a secret.", ALGORITHM, HMAC_HEAD,
       hs256(rsa("signer-1").public_pem(), signing_input(HMAC_HEAD, claims())))
for alg in ("ES384", "PS256", "RS512", "EdDSA"):
    forged(f"alg-{alg.lower()}", "siwa does not sign by it.", ALGORITHM, {**header(), "alg": alg})
forged("alg-rs256-for-the-ec-key", "The key decides about the algorithm.", ALGORITHM,
       {**header("RS256"), "kid": "ecSigner01"}, fetches=True)
forged("alg-es256-for-the-rsa-key", "The key decides about the algorithm.", ALGORITHM,
       {**header(), "kid": "rsaSigner1"}, fetches=True)
for name, typ in [("id-token", "JWT"), ("missing", Without), ("security-event", "secevent+jwt"), ("logout", "logout+jwt"),
                  ("number", 7), ("longer", "at+jwt2")]:
    forged(f"typ-{name}", "Another token of the same issuer, with a good signature.", "not_an_access_token", header(typ=typ))
for name in ("crit", "b64", "jwk", "jku", "x5u", "x5c"):
    value = {"crit": ["exp"], "b64": False, "jwk": EC, "x5c": ["MII="]}.get(name, "https://evil.example.com/keys")
    forged(f"header-{name}", "It would change what is signed, or bring its own key.", "header_not_allowed",
           header(**{name: value}))
for name, kid in [("missing", Without), ("empty", ""), ("number", 7), ("of-65-characters", "k" * 65)]:
    forged(f"kid-{name}", "No key to look for.", "key_id_invalid", header(kid=kid))
forged("kid-unknown", "The fetched set has no such key.", "unknown_key", header(kid="ecSigner99"), fetches=True)

# The signature.
SIGNED = "signature_invalid"
R, S = es256(f"{HEAD}.{PAYLOAD}")[:32], es256(f"{HEAD}.{PAYLOAD}")[32:]
RS_HEAD = header("RS256")
for name, summary, head, signature in [
    ("changed", "One bit.", header(), R + S[:-1] + bytes([S[-1] ^ 1])),
    ("of-another-token", "Of other claims.", header(), es256("other")),
    ("zero", "r and s are 0: some libraries accept every message.", header(), bytes(64)),
    ("der", "The form of X.509 and not of JWS.", header(), bytes([0x30, 0x44, 2, 0x20]) + R + bytes([2, 0x20]) + S),
    ("zero-in-front-of-s", "The same numbers in 65 bytes.", header(), R + b"\0" + S),
    ("longer", "A byte more.", header(), R + S + b"\0"), ("shorter", "A byte less.", header(), (R + S)[:-1]),
    ("by-stranger", "Another RSA key under the ID of a good one.", RS_HEAD,
     rsa("stranger").sign(signing_input(RS_HEAD, claims()))),
    ("pss", "RSASSA-PSS under RS256.", RS_HEAD, rsa("signer-1").sign_pss(signing_input(RS_HEAD, claims()))),
    ("sha512", "RSA with SHA-512 under RS256.", RS_HEAD, rsa("signer-1").sign(signing_input(RS_HEAD, claims()), "sha512")),
]:
    forged(f"signature-{name}", summary, SIGNED, head, signature, fetches=True)
case("signature-claims-changed", "Another account under the signature.",
     f"{HEAD}.{base64url(json_bytes(claims(sub='acc_other')))}.{SIGNATURE}", SIGNED)

# Keys that must not be used, under the ID that the token names.
for name, entry in [
    ("use-enc", {**EC, "use": "enc"}), ("alg-other", {**EC, "alg": "ES384"}), ("not-on-the-curve", {**EC, "y": EC["x"]}),
    ("private-type", {"kty": "oct", "kid": EC["kid"], "use": "sig", "alg": "ES256", "k": "AAAA"}),
]:
    case(f"key-{name}", "The key is skipped.", GOOD, "unknown_key", key_set=(entry, RSA))
for name, entry in [
    ("exponent-1", {**RSA, "e": "AQ"}), ("exponent-3", {**RSA, "e": "Aw"}),
    ("modulus-of-1024-bits", rsa("rsa-1024").jwk(RSA["kid"])), ("modulus-empty", {**RSA, "n": ""}),
]:
    case(f"key-{name}", "The key is skipped.", token(head=header("RS256")), "unknown_key", key_set=(entry, EC))

# The claims.
claim("iss-of-another", "Another issuer.", "issuer_mismatch", iss="https://signin.example.org")
claim("iss-with-slash", "Issuers are compared byte for byte.", "issuer_mismatch", iss=ISSUER + "/")
claim("iss-array", "Not a text.", "issuer_mismatch", iss=[ISSUER])
claim("aud-of-another", "For another API.", "audience_mismatch", aud="https://other.example.com")
claim("aud-longer", "The name of the API is a part of it.", "audience_mismatch", aud=API + ".evil.example")
claim("aud-array", "siwa writes one text.", "audience_mismatch", aud=[API])
claim("expired", "60 seconds after exp.", "token_expired", exp=AT - 60)
claim("iat-ahead", "61 seconds from now.", "issued_in_future", iat=AT + 61)
claim("nbf-ahead", "61 seconds from now.", "token_not_yet_valid", nbf=AT + 61)
for name in ("iss", "aud", "sub", "client_id", "iat", "exp", "jti"):
    claim(f"{name.replace('_', '-')}-missing", "A claim that siwa always writes.", "claim_missing", **{name: Without})
for name, changes in [
    ("exp-string", {"exp": str(AT + 60)}), ("exp-fraction", {"exp": Raw(f"{AT}.5")}), ("exp-1e300", {"exp": Raw("1e300")}),
    ("exp-2-to-the-64", {"exp": 2**64}), ("exp-boolean", {"exp": True}), ("exp-null", {"exp": None}),
    ("exp-negative", {"exp": -1}), ("iat-null", {"iat": None}), ("sub-number", {"sub": 7}), ("sub-empty", {"sub": ""}),
    ("client-id-array", {"client_id": ["shop"]}), ("scope-array", {"scope": ["email"]}), ("jti-number", {"jti": 1}),
]:
    claim(name, "A claim of another type, or out of range.", "claim_malformed", **changes)
for name, payload in [("array", [claims()]), ("text", json_bytes("text")), ("trailing-bytes", json_bytes(claims()) + b"{}"),
                      ("nan", json_bytes(Pairs([*claims().items(), ("x", Raw("NaN"))]))),
                      ("nested", json_bytes(Pairs([("x", Raw("[" * 5000))])))]:
    case(f"payload-{name}", "Signed, and not one JSON object.", token(payload), "token_malformed")
claim("scope-missing", "A scope that the API needs.", "scope_missing", scope="openid")
claim("scope-absent", "No scope at all.", "scope_missing", scope=Without)
claim("scope-longer", "email.read is not email.", "scope_missing", scope="openid email.read")
claim("scope-in-capitals", "Scopes have a case.", "scope_missing", scope="EMAIL")
claim("order-issuer-before-expiry", "The first check that fails decides.", "issuer_mismatch", iss="https://x", exp=0)
claim("order-audience-before-expiry", "The first check that fails decides.", "audience_mismatch", aud="x", exp=0)
claim("order-expiry-before-scope", "The first check that fails decides.", "token_expired", exp=0, scope="")

# The key set, in several steps.
YES, NO, DOWN = {**READ}, {"code": "unknown_key"}, page(503)
NEW_EC = token(head=header(kid="ecSigner02"))
ROTATED = [{**EC, "kid": "ecSigner02"}, RSA]


def at(seconds):
    return {"at": rfc3339(AT + seconds)}


def script(name, summary, exchanges, steps):
    vector(CLIENT_KEYS, name, summary, exchanges, steps)


def late(seconds, value=None, **more):
    """The token of a later moment."""
    value = value or token(claims(iat=AT + seconds, exp=AT + seconds + 3600))
    return step(value, **{"returns": {"active": True}, **more}, **at(seconds))


def unavailable(retry_after):
    return refusal("keys_unavailable", 503, retry_after, request_id=None)


FAILED = exchange(FETCH, DOWN)
script("one-fetch", "The set is used again.", [keys()], [step(GOOD, YES), step(token(head=header("RS256")), YES), step(GOOD, YES)])
script("at-once", "Eight calls at once, and one fetch.", [keys(delay_ms=200)], [step(GOOD, YES, together=8)])
script("at-once-when-old", "The set is an hour old: one fetch, and the calls that do not wait for it use the old set.",
       [keys(), keys(delay_ms=200)], [step(GOOD, YES), late(3600, together=8)])
script("at-once-while-down", "Eight calls without keys, and one fetch that fails.", [exchange(FETCH, {**DOWN, "delay_ms": 200})],
       [step(GOOD, error=unavailable(5), together=8)])
script("fresh-for-an-hour", "The last second of the hour.", [keys()], [step(GOOD, YES), late(3599)])
script("fetched-again-after-an-hour", "The set is an hour old.", [keys(), keys()], [step(GOOD, YES), late(3600)])
script("unknown-key-fetches", "The token names a newer key. The set is a minute old.", [keys(), keys(*ROTATED)],
       [step(GOOD, YES), step(NEW_EC, YES, **at(60))])
script("unknown-key-cool-down", "Anybody can invent key IDs: one fetch in a minute.", [keys(), keys()],
       [step(GOOD, YES), step(NEW_EC, error=NO, **at(1)), step(NEW_EC, error=NO, **at(59)), step(NEW_EC, error=NO, **at(60)),
        step(NEW_EC, error=NO, **at(61)), step(GOOD, YES, **at(62))])
script("unknown-keys-at-once", "Eight invented key IDs, and one fetch.", [keys(delay_ms=200)], [step(NEW_EC, error=NO, together=8)])
script("key-removed", "A key that has left the set is not used any more.", [keys(), keys(*ROTATED)],
       [step(GOOD, YES), late(3600, token(claims(iat=AT + 3600, exp=AT + 7200), header("RS256"))),
        late(3601, returns=None, error=NO)])
script("stale-while-down", "siwa does not respond: the old keys serve for a day.", [keys(), FAILED],
       [step(GOOD, YES), late(3600), late(3602)])
script("stale-for-a-day", "After a day without a set no token is accepted.", [keys(), FAILED, FAILED],
       [step(GOOD, YES), late(86_399), late(86_404, returns=None, error=unavailable(5))])
script("down-at-the-start", "No keys: 503, and never a valid token. The next fetch is five seconds later.",
       [FAILED, keys()], [step(GOOD, error=unavailable(5)), step(GOOD, error=unavailable(1), **at(4)), step(GOOD, YES, **at(5))])
script("retried-after-a-failure", "A failure is repeated after five seconds, and not after a minute.", [keys(), FAILED, keys(*ROTATED)],
       [step(GOOD, YES), step(NEW_EC, error=unavailable(5), **at(100)), step(NEW_EC, YES, **at(105))])
for name, response in [
    ("html", page(200)), ("not-json", {"status": 200, "body": "{\"keys\":["}), ("redirect", {
        "status": 302, "headers": {"location": "/v1/jwks.json"}}), ("without-keys", ok({"keys": []})),
    ("keys-of-another-kind", ok({"keys": [{"kty": "oct", "kid": "ecSigner01", "k": "AAAA"}]})), ("keys-an-object", ok({"keys": {}})),
    ("half", {**ok({"keys": CURRENT}), "fault": "cut", "bytes": 100}), ("not-found", page(404)),
    ("no-content", {"status": 204, "headers": {"content-type": None, "content-length": None}}),
]:
    script(f"good-keys-survive-{name}", "A useless response does not replace good keys.", [keys(), exchange(FETCH, response)],
           [step(GOOD, YES), late(3600), late(3601)])
script("garbage-causes-no-fetch", "What is not a token of siwa's form costs no request.", [],
       [step(value, error=refused(code)) for value, code in [
           ("a.b.c", "token_malformed"), (f"{base64url(b'{}')}.{PAYLOAD}.{SIGNATURE}", "algorithm_not_allowed")]])
script("clock-set-back", "A clock that goes back does not keep old keys for ever.", [keys(), keys()],
       [step(GOOD, YES), step(token(claims(iat=AT - 7200, exp=AT)), {"active": True}, **at(-3600))])
script("no-key-for-the-key-set", "The set is public: the request has no API key.", [keys()], [step(GOOD, YES)])
