"""Notifications: what Apple sends, what it documents, and forgeries of both."""

from cases import (
    APP, AT, DAY, ISSUED, LAST_SECOND, STRANGER_APP, SUB, WEB, Without, claims, event, header, notice,
    notification_accepted as accepted, notification_refused as refused,
    notification_refused_claims as refused_claims, signed,
)
from jws import Name, Pairs, Raw, base64url, json_bytes, segments, signing_input
from keys import hs256, rsa

RELAY = "h7k2m9x4qd@privaterelay.appleid.com"


def found(kind, **changes):
    """What must be read from an event; times in milliseconds."""
    members = {"kind": kind, **event(**changes)}
    if "event_time" in members:
        members["event_time_milliseconds"] = members.pop("event_time")
    return members


def events(**changes):
    return notice(event(**changes))


# What Apple sends.
accepted("consent-revoked", "As seen in reality: events is a string, event_time is in milliseconds.",
         events(),
         [found("consent-revoked")])
for spelling in ("account-delete", "account-deleted"):
    accepted(spelling, "Account deletion is spelled in two ways, and both are Apple's.",
             events(type=spelling),
             [found("account-deleted", type=spelling)])
for kind in ("email-disabled", "email-enabled"):
    for name, value in {"true-string": "true", "true": True, "false": False}.items():
        accepted(f"{kind}-private-{name}", "is_private_email is a boolean, or a string that spells one.",
                 events(type=kind, email=RELAY, is_private_email=value),
                 [found(kind, type=kind, email=RELAY, is_private_email=value in (True, "true"))])
accepted("email-disabled-without-email", "The switch counts also when the address is not repeated.",
         events(type="email-disabled"), [found("email-disabled", type="email-disabled")])
accepted("email-disabled-relay-without-claim", "Apple's own domain says what the claim leaves out.",
         events(type="email-disabled", email=RELAY),
         [found("email-disabled", type="email-disabled", email=RELAY, is_private_email=True)])
accepted("email-enabled-real-without-claim", "Any other domain says nothing.",
         events(type="email-enabled", email="person@example.com"),
         [found("email-enabled", type="email-enabled", email="person@example.com")])
accepted("events-as-object", "The documentation shows an object.", notice(Pairs(event().items())),
         [found("consent-revoked")])
accepted("events-as-array", "Older documentation shows an array.", notice([event()]),
         [found("consent-revoked")])
accepted("events-as-array-of-two", "An array can hold two.",
         notice([event(type="email-disabled", email=RELAY, is_private_email="true"), event()]),
         [found("email-disabled", type="email-disabled", email=RELAY, is_private_email=True),
          found("consent-revoked")])
accepted("events-as-array-in-string", "Both forms at once.", notice(json_bytes([event()]).decode()),
         [found("consent-revoked")])
accepted("events-as-array-of-sixteen", "The most that one delivery may cause.", notice([event()] * 16),
         [found("consent-revoked")] * 16)
accepted("events-string-written-differently", "White space and escapes inside the string are the same JSON.",
         notice("{ \"\\u0074ype\" : \"consent-revoked\",\n \"event_time\":1, \"sub\" : \"a\\/b\" }"),
         [found("consent-revoked", sub="a/b", event_time=1000)])
accepted("unknown-type", "A type that Apple adds one day is kept and acknowledged.",
         events(type="passkey-added", detail={"any": ["shape", 1]}), [found("unknown", type="passkey-added")])
accepted("unknown-type-without-sub", "An unknown type promises no member but its type.",
         notice({"type": "maintenance-announced"}),
         [found("unknown", type="maintenance-announced", sub=Without, event_time=Without)])
accepted("unknown-type-with-odd-members",
         "What an unknown type is made of is not ours to judge; what cannot be used is left out.",
         notice({"type": "passkey-added", "sub": 7, "event_time": "yesterday", "email": [],
                 "is_private_email": "maybe"}),
         [found("unknown", type="passkey-added", sub=Without, event_time=Without)])
accepted("type-absent",
         "An event without a type is one of unknown type: refusing it makes Apple deliver it for ever.",
         events(type=Without), [found("unknown", type="")])
accepted("type-in-another-case", "Types are case-sensitive: this one is unknown.",
         events(type="Consent-Revoked"),
         [found("unknown", type="Consent-Revoked")])
accepted("unknown-members", "Members that Apple adds one day are skipped.",
         events(reason="user", ext=[1, {"a": None}]),
         [found("consent-revoked")])
accepted("without-jti", "Without an identifier the event itself identifies it.", notice(event(), jti=Without),
         [found("consent-revoked")])
accepted("for-services-id", "Every configured client ID is an audience.", notice(event(), aud=WEB),
         [found("consent-revoked")])
accepted("event-time-in-seconds", "The documentation shows seconds.", events(event_time=ISSUED - 15),
         [found("consent-revoked", event_time=(ISSUED - 15) * 1000)])
YEAR_5138 = 10**11  # seconds
for name, value, milliseconds, summary in [
    ("largest-in-seconds", 10**11, 10**14, "Up to 10^11 it is seconds."),
    ("smallest-in-milliseconds", 10**11 + 1, 10**11 + 1, "Above 10^11 it is milliseconds."),
]:
    accepted(f"event-time-{name}", summary,
             notice(event(event_time=value), iat=YEAR_5138, exp=YEAR_5138 + DAY),
             [found("consent-revoked", event_time=milliseconds)], at=YEAR_5138)
accepted("event-time-zero", "The first moment.", events(event_time=0),
         [found("consent-revoked", event_time=0)])
accepted("event-time-last", "The last moment that has an RFC 3339 form, met at the end of time.",
         notice(event(event_time=LAST_SECOND * 1000 + 999), iat=LAST_SECOND, exp=LAST_SECOND),
         [found("consent-revoked", event_time=LAST_SECOND * 1000 + 999)], at=LAST_SECOND)
accepted("event-time-ahead-by-leeway", "Apple's clock may run ahead by the leeway.",
         events(event_time=(AT + 60) * 1000 + 999),
         [found("consent-revoked", event_time=(AT + 60) * 1000 + 999)])
accepted("delivered-late", "Apple retries for hours; within a day the token is good.", events(),
         [found("consent-revoked")],
         at=ISSUED + DAY + 59)
accepted("of-now-with-clock-behind", "Apple's clock may run ahead by the leeway.",
         notice(event(), iat=AT + 60), [found("consent-revoked")])
accepted("not-before-ahead-by-leeway", "The first second in which the notification counts.",
         notice(event(), nbf=AT + 60), [found("consent-revoked")])
accepted("key-last-in-set", "The same keys sign identity tokens and notifications.", events(),
         [found("consent-revoked")],
         token=signed(events(), key="signer-3"))

# What Apple did not sign for us.
HEAD, BODY, SIGNATURE = segments(signed(events()))
refused_claims("size-16-kib-and-more", "token_too_large", "Longer than is read.", events(filler="x" * 13000))
refused("size-10-megabytes", "token_too_large", "Libraries that decode on the stack are killed by this.",
        [{"text": HEAD + "."}, {"text": "QUFB", "times": 2621440}, {"text": "." + SIGNATURE}])
refused("segments-without-signature", "token_malformed",
        "A reader that does not check the signature accepts this.", f"{HEAD}.{BODY}.")
refused("segments-bare-claims", "token_malformed", "The claims themselves, posted as the payload.",
        json_bytes(events()).decode())
refused("base64-padded", "token_malformed", "JWS has no padding.", f"{HEAD}.{BODY}.{SIGNATURE}==")
refused("header-duplicate-alg", "token_malformed", "Which of two algorithms counts?",
        signed(events(), head=Pairs([("alg", "none"), *header().items()])))
refused("header-jwk", "header_not_allowed", "The attacker brings his own key.",
        signed(events(), key="stranger", head=header(jwk=rsa("stranger").jwk("fxSigner01"))))
refused("alg-none", "algorithm_not_allowed", "Unsecured, with something in the place of the signature.",
        f"{base64url(json_bytes(header(alg='none')))}.{BODY}.QUFB")
text = signing_input(header(alg="HS256"), events())
refused("alg-hs256-keyed-with-public-pem", "algorithm_not_allowed", "The public key is public.",
        f"{text}.{base64url(hs256(rsa('signer-1').public_pem(), text))}")
refused("kid-missing", "key_id_invalid", "Without a key ID there is no key.",
        signed(events(), head=header(kid=Without)), key_set="one-key.json")
refused("kid-unknown", "unknown_key", "No such key.", signed(events(), head=header(kid="fxStranger")))
refused_claims("key-that-left-the-set", "unknown_key", "A key that left the set is gone.", events(),
               key_set="rotated.json")
refused("signature-by-stranger", "signature_invalid",
        "Services that do not check it revoke whomever one likes.",
        signed(events(), key="stranger", head=header()))
refused("signature-of-an-identity-token", "signature_invalid", "A good signature in a strange place.",
        f"{HEAD}.{BODY}.{segments(signed(claims()))[2]}")
refused("signature-sub-changed", "signature_invalid", "Apple's signature under another user's revocation.",
        f"{HEAD}.{base64url(json_bytes(events(sub='000001.someone.else')))}.{SIGNATURE}")
refused_claims("kind-identity-token", "not_a_notification",
               "An identity token in the wrong hands could revoke.", claims())
refused_claims("kind-events-missing", "not_a_notification", "Nothing happened.", notice(Without))
refused_claims("kind-identity-token-of-another-app", "not_a_notification",
               "What it is comes before whom it is for.",
        claims(aud=STRANGER_APP))

# Payload JSON and claims.
refused_claims("payload-duplicate-events", "token_malformed", "Which of the two happened?",
        Pairs([*events().items(), ("events", "{}")]))
refused_claims("payload-duplicate-nested-sub", "token_malformed", "Two subjects in an events object.",
        notice(Pairs([*event().items(), ("sub", "000001.someone.else")])))
refused_claims("payload-duplicate-nested-sub-escaped", "token_malformed",
               "Two subjects, one behind an escape.",
        notice([Pairs([*event().items(), (Name("s\\u0075b"), "000001.someone.else")])]))
refused_claims("payload-nul-in-nested-sub", "token_malformed", "The end of a string in C.",
        notice(Pairs(event(sub=Raw('"001847\\u0000"')).items())))
refused_claims("payload-byte-order-mark", "token_malformed", "Foundation skips a byte order mark.",
        b"\xef\xbb\xbf" + json_bytes(events()))
for name in ("iss", "aud", "exp", "iat"):
    refused_claims(f"{name}-missing", "claim_missing", f"A notification without {name}.",
                   notice(event(), **{name: Without}))
for name, changes, summary in [
    ("aud-number", {"aud": 1}, "An audience is a string."),
    ("exp-1e300", {"exp": Raw("1e300")}, "Int(1e300) ends the process."),
    ("iat-string", {"iat": str(ISSUED)}, "A string of digits is no number."),
    ("exp-past-the-last-second", {"exp": LAST_SECOND + 1}, "The year 10000 has no RFC 3339 form."),
    ("jti-number", {"jti": 7}, "An identifier is a string."),
]:
    refused_claims(name, "claim_malformed", summary, notice(event(), **changes))
refused_claims("iss-another", "issuer_mismatch", "Not Apple.",
               notice(event(), iss="https://apple.attacker.example"))
refused_claims("iss-of-2025-discovery", "issuer_mismatch",
               "What discovery said for some days; no token ever did.",
        notice(event(), iss="https://account.apple.com"))
refused_claims("aud-of-another-app", "audience_mismatch", "Another app's users revoke nothing here.",
               notice(event(), aud=STRANGER_APP))
refused_claims("aud-array-of-one", "audience_mismatch", "JWT allows it, Apple never sends it.",
               notice(event(), aud=[APP]))
refused_claims("aud-kelvin-sign", "audience_mismatch", "U+212A equals K for String ==.",
               notice(event(), aud="com.example.\u212aiosk"),
        configuration={"client_ids": ["com.example.Kiosk"]})
refused_claims("expired-leeway-used-up", "token_expired", "An old notification replayed.", events(),
               at=ISSUED + DAY + 60)
refused_claims("expired-a-year-ago", "token_expired", "An old notification replayed.", events(),
               at=ISSUED + 365 * DAY)
refused_claims("issued-ahead-by-more-than-leeway", "issued_in_future", "One second past the leeway.",
               notice(event(), iat=AT + 61))
refused_claims("issued-ahead-leeway-zero", "issued_in_future", "One second past no leeway.",
               notice(event(), iat=AT + 1),
        configuration={"leeway_seconds": 0})

refused_claims("not-before-ahead-by-more-than-leeway", "token_not_yet_valid",
               "A notification must not be accepted before nbf (RFC 7519 §4.1.5).", notice(event(), nbf=AT + 61))
refused_claims("not-before-null", "claim_malformed", "Null is not a value.", notice(event(), nbf=None))

# Events.
EVENT = json_bytes(event()).decode()
for name, value, summary in [
    ("number", 7, "No event."),
    ("null", None, "Present, and nothing."),
    ("boolean", True, "No event."),
    ("empty-string", "", "No event."),
    ("empty-array", [], "Nothing happened."),
    ("array-of-numbers", [1, 2], "No events."),
    ("array-of-seventeen", [event()] * 17, "More than one delivery may cause."),
    ("array-of-one-good-and-one-bad", [event(), {"type": "consent-revoked"}], "Half a notification is none."),
    ("string-not-json", "consent-revoked", "A type is no event."),
    ("string-number", "7", "JSON, but no event."),
    ("string-trailing-comma", EVENT[:-1] + ",}", "The inner JSON is read as strictly as the outer."),
    ("string-trailing-bytes", EVENT + EVENT, "Two documents in one string."),
    ("string-byte-order-mark", "\ufeff" + EVENT, "The inner JSON is read as strictly as the outer."),
    ("string-duplicate-sub", EVENT[:-1] + ',"sub":"000001.someone.else"}', "Which of two users?"),
    ("string-duplicate-sub-escaped", EVENT[:-1] + ',"\\u0073ub":"000001.someone.else"}',
     "Which of two users?"),
    ("string-lone-surrogate", EVENT.replace(SUB, "\\ud800"),
     "The inner JSON is read as strictly as the outer."),
    ("string-nul", EVENT.replace(SUB, "001847\\u0000"), "The end of a string in C."),
    ("string-nested-deeply", '{"type":"x","ext":' + "[" * 3000 + "]" * 3000 + "}",
     "Recursion without a bound."),
    ("string-in-string", json_bytes(EVENT).decode(), "Wrapped once too often."),
]:
    refused_claims(f"events-{name}", "events_malformed", summary, notice(value))
for name, changes, summary in [
    ("time-missing", {"event_time": Without}, "Without its moment a revocation has no place in the order."),
    ("type-number", {"type": 1}, "A type is a string."),
    ("sub-missing", {"sub": Without}, "A revocation that names no one."),
    ("sub-missing-for-email-disabled", {"type": "email-disabled", "sub": Without}, "It names no one."),
    ("sub-number", {"sub": 1847}, "A subject is a string."),
    ("sub-empty", {"sub": ""}, "A revocation that names no one."),
    ("sub-of-256-characters", {"sub": "s" * 256}, "One character more than is kept."),
    ("sub-with-newline", {"sub": "001847\n.0930"}, "Ends a line in a log."),
    ("private-email-yes", {"type": "email-enabled", "is_private_email": "yes"},
     "Two strings are booleans, no other."),
    ("private-email-one", {"type": "email-enabled", "is_private_email": 1}, "A number is no boolean."),
    ("email-number", {"type": "email-enabled", "email": 7}, "An e-mail address is a string."),
]:
    refused_claims(f"event-{name}", "events_malformed", summary, events(**changes))
for name, value, summary in [
    ("1e300", Raw("1e300"), "Int(1e300) ends the process."),
    ("fractional", Raw("1773480565.622"), "A whole number, or no time."),
    ("exponent", Raw("1e12"), "Foundation reads it as an integer."),
    ("int64-max", 2**63 - 1, "Multiplying by 1000 overflows."),
    ("int64-min", -2**63, "Its magnitude does not fit 64 bits."),
    ("past-the-last-moment", LAST_SECOND * 1000 + 1000, "The year 10000 has no RFC 3339 form."),
    ("minus-one", -1, "Before the epoch."),
    ("string", "1773480565622", "A string of digits is no number."),
    ("null", None, "Null is not a value."),
]:
    refused_claims(f"event-time-{name}", "events_malformed", summary, events(event_time=value))
for name, value, summary in [
    ("ahead-by-more-than-leeway", (AT + 61) * 1000, "One second past the leeway."),
    ("of-the-last-second", LAST_SECOND * 1000, "A revocation that would outlive every sign-in for ever."),
    ("of-year-5138", 10**11, "A revocation that would outlive every sign-in, in seconds."),
]:
    refused_claims(f"event-time-{name}", "issued_in_future", summary, events(event_time=value))
