"""Security event tokens of Google's Cross-Account Protection: RS256 without typ, in both forms of Google's pages."""

import base64
import hashlib

from cases import AT, Without, changed, header, rfc3339
from jws import compact, json_bytes, segments, signing_input
from keys import hs256, rsa

GOOGLE_EVENTS = {}

ISSUER = "https://accounts.google.com/"
AUDIENCE = "123-abc.apps.googleusercontent.com"
OPENID = "https://schemas.openid.net/secevent/"
SUB = "108346201867340912345"
SUBJECT = {"subject_type": "iss-sub", "iss": ISSUER, "sub": SUB}
TOKEN = hashlib.sha512(hashlib.sha512(b"a refresh token of Google's").digest()).digest()


def claims(uri, event, **changes):
    uri = uri if ":" in uri else OPENID + uri
    return changed({
        "iss": ISSUER, "aud": AUDIENCE, "iat": AT - 5, "jti": "756E69717565206964656E746966696572",
        "events": {uri: event},
    }, changes)


def signed(payload, head=None, key="signer-1"):
    head = header(key) if head is None else head
    return compact(head, payload, rsa(key).sign(signing_input(head, payload)))


def put(name, summary, token, code=None, read=None):
    assert name not in GOOGLE_EVENTS, f"two cases are called {name}"
    case = {"summary": summary, "token": token, "key_set": "current.json", "audience": AUDIENCE, "at": rfc3339(AT),
            "verdict": "refused" if code else "accepted"}
    case.update({"code": code} if code else {"read": read})
    GOOGLE_EVENTS[name] = case


def accepted(name, summary, uri, event, kind, *changes, reason=None, state=None, **more):
    payload = claims(uri, event, **more)
    read = {"jti": payload["jti"], "kind": kind, "changes": [
        f"{change} {SUB}" if change in ("end all", "end project", "disable", "enable", "name") else change
        for change in changes]}
    read.update({"reason": reason} if reason else {})
    read.update({"state": state} if state else {})
    put("accepted-" + name, summary, signed(payload), read=read)


def refused(name, code, summary, payload, head=None, key="signer-1"):
    put(name, summary, signed(payload, head, key), code)


FORMS = {"": {"subject": SUBJECT}, "-flat": SUBJECT}
for form, event in FORMS.items():
    where = "The subject is a member of its own" if not form else "The members of the subject are in the event"
    for uri, kind, changes in [
        ("risc/event-type/sessions-revoked", "sessions-revoked", ["end all"]),
        ("oauth/event-type/tokens-revoked", "tokens-revoked", ["end project"]),
        ("risc/event-type/account-disabled", "account-disabled", ["end all", "disable"]),
        ("risc/event-type/account-enabled", "account-enabled", ["enable"]),
        ("risc/event-type/account-credential-change-required", "account-credential-change-required", ["name"]),
        ("risc/event-type/account-purged", "other", ["name"]),
    ]:
        accepted(uri.rpartition("/")[2] + form, f"{where}.", uri, event, kind, *changes)
for reason in ("hijacking", "bulk-account"):
    accepted(f"account-disabled-{reason}", "With Google's reason.", "risc/event-type/account-disabled",
             {"subject": SUBJECT, "reason": reason}, "account-disabled", "end all", "disable", reason=reason)
accepted("account-disabled-new-reason", "A reason that is not known yet is left out.",
         "risc/event-type/account-disabled", {"subject": SUBJECT, "reason": "something-new"}, "account-disabled",
         "end all", "disable")
REVOKED = "oauth/event-type/token-revoked"
for name, algorithm, text in [
    ("hexadecimal", "hash_SHA512_double", TOKEN.hex()),
    ("hexadecimal-in-capitals", "hash_SHA512_double", TOKEN.hex().upper()),
    ("base64", "hash_base64_sha512_sha512", base64.b64encode(TOKEN).decode()),
    ("base64url", "hash_base64_sha512_sha512", base64.urlsafe_b64encode(TOKEN).rstrip(b"=").decode()),
]:
    token = {"subject_type": "oauth_token", "token_type": "refresh_token", "token_identifier_alg": algorithm,
             "token": text}
    accepted(f"token-revoked-{name}", "One token, by its hash.", REVOKED, {"subject": token}, "token-revoked",
             f"end token {TOKEN.hex()}")
    accepted(f"token-revoked-{name}-flat", "The members are in the event.", REVOKED, token, "token-revoked",
             f"end token {TOKEN.hex()}")
for name, algorithm, text in [
    ("prefix", "prefix", "ya29.a0AfB_by"), ("hash-cut-off", "hash_SHA512_double", TOKEN.hex()[:-2]),
    ("without-algorithm", None, TOKEN.hex()), ("hash-of-another-form", "hash_SHA512_double", "g" * 128),
]:
    accepted(f"token-revoked-{name}", "It names no token that can be found: counted, and nothing ends.", REVOKED,
             {"subject": {"token_identifier_alg": algorithm, "token": text}}, "token-revoked")
VERIFICATION = "risc/event-type/verification"
accepted("verification", "A test, with the state that was asked for.", VERIFICATION, {"state": "A1b2"}, "verification",
         state="A1b2")
accepted("verification-without-state", "A test without a state.", VERIFICATION, {}, "verification")
accepted("verification-long-state", "A state that is longer than what is kept.", VERIFICATION, {"state": "s" * 256},
         "verification")
accepted("unknown-event", "An event that is new.", "urn:example:new", {"subject": SUBJECT}, "other", "name")
accepted("aud-array", "A project has several client IDs.", "risc/event-type/account-enabled", {"subject": SUBJECT},
         "account-enabled", "enable", aud=["456-def.apps.googleusercontent.com", AUDIENCE])
for name, subject in [
    ("of-another-issuer", {**SUBJECT, "iss": "https://accounts.example.com/"}),
    ("without-issuer", {"subject_type": "iss-sub", "sub": SUB}), ("empty", {**SUBJECT, "sub": ""}),
    ("number", {**SUBJECT, "sub": 7}), ("of-256-characters", {**SUBJECT, "sub": "1" * 256}),
    ("with-control-character", {**SUBJECT, "sub": "1\u00072"}),
]:
    accepted(f"subject-{name}", "It names no account at Google: nothing ends.", "risc/event-type/account-disabled",
             {"subject": subject}, "account-disabled")
accepted("subject-issuer-of-id-tokens", "The issuer as ID tokens have it.", "risc/event-type/account-enabled",
         {"subject": {**SUBJECT, "iss": "accounts.google.com"}}, "account-enabled", "enable")

GOOD = claims("risc/event-type/account-disabled", {"subject": SUBJECT})
REQUEST, KEY, ISS, AUD = "invalid_request", "invalid_key", "invalid_issuer", "invalid_audience"
HEAD, BODY, SIGNATURE = segments(signed(GOOD))
put("segments-two", "Nothing is signed.", f"{HEAD}.{BODY}", REQUEST)
put("alg-none", "Nothing is signed.", compact(header(alg="none"), GOOD, b"x"), REQUEST)
put("alg-hs256-keyed-with-public-pem", "The public key as a secret.",
    compact(header(alg="HS256"), GOOD, hs256(rsa("signer-1").public_pem(), signing_input(header(alg="HS256"), GOOD))),
    REQUEST)
refused("kid-missing", REQUEST, "No key is named.", GOOD, header(kid=Without))
refused("kid-unknown", KEY, "Google has no such key.", GOOD, header(kid="fxSigner99"))
refused("signature-by-stranger", KEY, "Another key under the ID of a good one.", GOOD, header(), "stranger")
refused("signature-by-another-key", KEY, "A key of the set, and not the key that is named.", GOOD, header(),
        "signer-2")
for claim, code, cases in [
    ("iss", ISS, [("of-another", "https://accounts.example.com/"), ("without-slash", ISSUER[:-1]),
                  ("missing", Without)]),
    ("aud", AUD, [("of-another-project", "456-def.apps.googleusercontent.com"), ("missing", Without), ("empty", []),
                  ("of-the-account-linking", "google_account_linking")]),
    ("iat", REQUEST, [("missing", Without), ("ahead", AT + 61), ("string", str(AT))]),
    ("jti", REQUEST, [("missing", Without), ("empty", "")]),
    ("events", REQUEST, [("missing", Without), ("empty", {}), ("string", json_bytes(GOOD["events"]).decode())]),
]:
    for name, value in cases:
        refused(f"{claim}-{name}", code, f"The claim {claim} is not as it must be.", changed(GOOD, {claim: value}))
