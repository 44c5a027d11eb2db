"""Security event tokens (RFC 8417): the claims of those that are sent, and tokens as a receiver meets them."""

from cases import AT, KIDS, Without, changed, rfc3339
from jws import Pairs, Raw, base64url, compact, json_bytes, segments, signing_input
from keys import hs256, rsa

SENT = {}
RECEIVED = {}

ISSUER = "https://signin.example.com"
AUDIENCE = "billing"
OPENID = "https://schemas.openid.net/secevent/"
ID = "evt_01a1fbea-fd31-70c4-8d21-64a7bb3d2a10"
ACCOUNT = "acc_01a1fbea-fd2f-7a50-9d0c-0f6e2a4c1b77"
SUB = "001847.6f1d0c2b9a8e4d7f8c3b5a6978e1d2f4.0930"
GRANT = {"id": "grt_01a1fbea-fd30-7d11-a0a6-7c1f5e2b9d44", "client_id": "phone"}


# Sent.
def sent(name, summary, uri, members=None, **changes):
    """An event of the feed, and the claims of its token."""
    event = changed({
        "id": ID, "type": name.partition("-")[0], "team_id": "A1B2C3D4E5", "sub": SUB, "account_id": ACCOUNT,
        "occurred_at": "2026-03-14T09:29:58.622Z", "recorded_at": "2026-03-14T09:29:59.101Z",
    }, changes)
    order = ["id", "type", "team_id", "sub", "account_id", "client_id", "reason", "source", "grant", "occurred_at",
             "recorded_at"]
    event = {member: event[member] for member in order if member in event}
    if "account_id" in event:
        subject = {"format": "opaque", "id": event["account_id"]}
    else:
        subject = {"format": "iss_sub", "iss": "https://appleid.apple.com", "sub": event["sub"]}
    moment = AT - 2
    SENT[name.replace("_", "-")] = {
        "summary": summary, "issuer": ISSUER, "audience": AUDIENCE, "issued_at": AT, "event": event,
        "claims": {
            "iss": ISSUER, "aud": AUDIENCE, "iat": AT, "jti": ID, "toe": moment, "sub_id": subject,
            "events": {uri: {"event_timestamp": moment, **(members or {}), "siwa_event": event}},
        },
    }


APP = {"client_id": "com.example.siwa.app"}
CHANGE = OPENID + "caep/event-type/credential-change"
CREATED = {"credential_type": "sign-in-with-apple", "change_type": "create"}
REVOKED = {"credential_type": "sign-in-with-apple", "change_type": "revoke"}
NOTIFIED = {**APP, "reason": "consent_revoked", "source": "notification"}
sent("account_created", "No type of OpenID says that an account is new.", "urn:siwa:event:account-created")
sent("credential_authorized", "The user agreed to sign in to the app: a credential that is new.", CHANGE, CREATED,
     **APP)
sent("credential_revoked", "The user stopped using the app.", CHANGE, REVOKED, **NOTIFIED)
sent("credential_revoked-without-account", "A user who has never signed in here has only Apple's name.", CHANGE,
     REVOKED, account_id=Without, **NOTIFIED)
sent("email_changed", "identifier-changed would need the old address as its subject.", "urn:siwa:event:email-changed")
sent("email_forwarding_changed", "Relay mail was switched off.", "urn:siwa:event:email-forwarding-changed",
     source="notification")
sent("profile_changed", "The user has another name.", "urn:siwa:event:profile-changed")
sent("account_deleted", "The Apple Account is gone, and the account here stays: not account-purged.",
     "urn:siwa:event:account-deleted", source="notification")
sent("account_erased", "The account is gone, and no name of the user is left.",
     OPENID + "risc/event-type/account-purged", sub=Without)
sent("account_transferred", "The user has another sub, of another team.", "urn:siwa:event:account-transferred")
sent("grant_created", "The user lets a client act.", "urn:siwa:event:grant-created", grant=GRANT)
sent("token_revoked", "One refresh token has ended, and its grant may go on.", "urn:siwa:event:token-revoked",
     grant=GRANT)
sent("grant_revoked", "All tokens of a client have ended.", OPENID + "oauth/event-type/tokens-revoked",
     reason="unlinked", grant={**GRANT, "reason": "unlinked"})
sent("grant_revoked-by-google", "Google said so. Its own event and reason are inside.",
     OPENID + "oauth/event-type/tokens-revoked", reason="google_revoked",
     grant={**GRANT, "reason": "google_revoked",
            "google_event": {"type": "account-disabled", "reason": "hijacking"}})
sent("account_disabled", "The account was disabled here.", OPENID + "risc/event-type/account-disabled")
sent("account_enabled", "It was enabled again.", OPENID + "risc/event-type/account-enabled")
sent("sessions_ended", "The user was signed out everywhere.", OPENID + "caep/event-type/session-revoked")


# Received.
def header(key="signer-1", **changes):
    return changed({"typ": "secevent+jwt", "kid": KIDS.get(key, "fxSigner01"), "alg": "RS256"}, changes)


def claims(uri="risc/event-type/account-disabled", **changes):
    uri = uri if uri.startswith("urn:") else OPENID + uri
    return changed({
        "iss": ISSUER, "aud": AUDIENCE, "iat": AT - 5, "jti": "4d3559ec67504aaba65d40b0363faad8",
        "sub_id": {"format": "iss_sub", "iss": ISSUER, "sub": "7375626A656374"},
        "events": {uri: {"event_timestamp": AT - 9}},
    }, changes)


def signed(payload, head=None, key="signer-1"):
    head = header(key) if head is None else head
    return compact(head, payload, rsa(key).sign(signing_input(head, payload)))


def received(name, summary, token, code=None, read=None):
    assert name not in RECEIVED, f"two cases are called {name}"
    case = {"summary": summary, "token": token, "key_set": "current.json", "issuer": ISSUER,
            "audiences": [AUDIENCE, "mail"], "at": rfc3339(AT), "verdict": "refused" if code else "accepted"}
    if code:
        case["code"] = code
    else:
        case["read"] = {"jti": read["jti"], "iat": read["iat"], "events": list(read["events"])}
    RECEIVED[name] = case


def accepted(name, summary, payload, head=None, key="signer-1"):
    received("accepted-" + name, summary, signed(payload, head, key), read=payload)


def refused(name, code, summary, payload=None, head=None, key="signer-1"):
    received(name, summary, signed(claims() if payload is None else payload, head, key), code)


for uri, summary in [
    ("risc/event-type/account-purged", "The account is gone."),
    ("risc/event-type/account-disabled", "The account is disabled."),
    ("risc/event-type/account-enabled", "The account is enabled."),
    ("risc/event-type/identifier-changed", "The address or number of the user is another."),
    ("risc/event-type/identifier-recycled", "Another user has the address or number."),
    ("risc/event-type/account-credential-change-required", "The user must change a password."),
    ("risc/event-type/sessions-revoked", "All sessions have ended."),
    ("caep/event-type/session-revoked", "Sessions have ended."),
    ("caep/event-type/credential-change", "A credential is new, or is gone."),
    ("oauth/event-type/token-revoked", "One token has ended."),
    ("oauth/event-type/tokens-revoked", "All tokens of a client have ended."),
    ("ssf/event-type/verification", "A test of the stream."),
    ("urn:siwa:event:email-changed", "A URI of siwa's own."),
]:
    accepted(uri.rpartition("/")[2].rpartition(":")[2], summary, claims(uri))
accepted("typ-as-media-type", "The long form of typ is allowed (RFC 7515 §4.1.9).", claims(),
         header(typ="application/secevent+jwt"))
accepted("typ-in-capitals", "Media types have no case.", claims(), header(typ="SECEVENT+JWT"))
accepted("aud-array", "A token may be for several receivers.", claims(aud=["other", "mail"]))
accepted("two-events", "RFC 8417 allows several descriptions of one event.",
         claims(events={OPENID + "risc/event-type/account-disabled": {}, "urn:example:disabled": {}}))
accepted("iat-ahead-by-leeway", "The issuer's clock may run ahead by a minute.", claims(iat=AT + 60))
accepted("iat-years-ago", "A token has no end: an event stays true.", claims(iat=0))
accepted("nbf-in-the-past", "It has begun.", claims(nbf=AT - 100))
accepted("second-key", "The key set has several keys.", claims(), key="signer-2")
accepted("unknown-claims", "Claims that a receiver does not know are skipped.", claims(txn="8675309", x=[1, {}]))

REQUEST, KEY, ISS, AUD = "invalid_request", "invalid_key", "invalid_issuer", "invalid_audience"
HEAD, BODY, SIGNATURE = segments(signed(claims()))
for name, summary, token in [
    ("segments-none", "No token.", "token"), ("segments-two", "Nothing is signed.", f"{HEAD}.{BODY}"),
    ("segments-four", "More than a JWS has.", f"{HEAD}.{BODY}.{SIGNATURE}.{SIGNATURE}"),
    ("segments-empty", "An empty body.", ""), ("base64-padded", "JWS has no padding.", f"{HEAD}.{BODY}.{SIGNATURE}=="),
    ("json-of-an-event", "The claims themselves.", json_bytes(claims()).decode()),
]:
    received(name, summary, token, REQUEST)
for name, value, summary in [
    ("missing", Without, "An ID token of the same issuer has no such typ (RFC 8417 §4.6)."),
    ("jwt", "JWT", "An ID token of the same issuer."), ("access-token", "at+jwt", "An access token (RFC 9068)."),
    ("logout-token", "logout+jwt", "A logout token has events as well."),
]:
    refused(f"typ-{name}", REQUEST, summary, head=header(typ=value))
refused("kid-unknown", KEY, "The key is not of the issuer, or not any more.", head=header(kid="fxSigner99"))
refused("signature-by-stranger", KEY, "Another key under the ID of a good one.", head=header(), key="stranger")
refused("signature-by-another-key", KEY, "A key of the set, and not the key that is named.", head=header(),
        key="signer-2")
received("signature-claims-changed", "Another event under the signature.",
         compact(header(), claims(jti="other"), rsa("signer-1").sign(signing_input(header(), claims()))), KEY)
received("signature-hmac-keyed-with-the-public-key", "The public key as a secret.",
         compact(header(), claims(), hs256(rsa("signer-1").public_pem(), signing_input(header(), claims()))), KEY)
refused("iss-of-another", ISS, "Another issuer.", claims(iss="https://signin.example.org"))
refused("iss-with-slash", ISS, "Issuers are compared byte for byte.", claims(iss=ISSUER + "/"))
refused("iss-missing", ISS, "No issuer.", claims(iss=Without))
refused("aud-of-another", AUD, "For another receiver.", claims(aud="payroll"))
refused("aud-missing", AUD, "For nobody.", claims(aud=Without))
refused("aud-empty", AUD, "For nobody.", claims(aud=[]))
refused("aud-number", AUD, "No name.", claims(aud=7))
for claim, cases in {
    "jti": [("missing", Without), ("empty", ""), ("number", 7), ("of-256-characters", "j" * 256),
            ("with-control-character", "a\u0007b")],
    "iat": [("missing", Without), ("string", str(AT)), ("ahead", AT + 61), ("negative", -1), ("int64-max", 2**63 - 1),
            ("1e300", Raw("1e300"))],
    "nbf": [("ahead", AT + 61), ("boolean", True), ("null", None)],
    "events": [("missing", Without), ("empty", {}), ("string", "x"), ("array", []), ("null", None),
               ("of-seventeen", {f"urn:example:{number}": {} for number in range(17)})],
}.items():
    for name, value in cases:
        refused(f"{claim}-{name}", REQUEST, f"The claim {claim} is not as it must be.", claims(**{claim: value}))
refused("payload-array", REQUEST, "The claims are no object.", [claims()])
refused("payload-duplicate-events", REQUEST, "Which of two counts?",
        Pairs([*claims().items(), ("events", {"urn:example:other": {}})]))
refused("payload-trailing-bytes", REQUEST, "More than one document.", json_bytes(claims()) + b"{}")
received("alg-none", "Nothing is signed.", f"{base64url(json_bytes(header(alg='none')))}.{BODY}.", REQUEST)
