"""Identity tokens that Apple's key signed and that must be refused for what they say: payload JSON and claims."""

from cases import (
    APP, AT, DAY, ISSUED, LAST_SECOND, STRANGER_APP, SUB, WEB, Without, claims, event, left_half, notice,
    refused, refused_claims, sha256_base64, sha256_hex, signed,
)
from identity_accepted import ACCESS_TOKEN, CODE, NONCE
from jws import Name, Pairs, Raw, base64url, json_bytes

HONEST = json_bytes(claims())


def members(*pairs):
    return Pairs([*claims().items(), *pairs])


# Payload JSON.
for name, payload, summary in [
    ("not-json", b"iss=https://appleid.apple.com&sub=1", "Something else than JSON."),
    ("array", [claims()], "JSON, but not an object."),
    ("null", Raw("null"), "JSON, but not an object."),
    ("trailing-comma", HONEST[:-1] + b",}", "Foundation reads trailing commas."),
    ("trailing-comma-in-array", claims(ext=Raw("[1,]")), "Foundation reads trailing commas."),
    ("trailing-bytes", HONEST + b"x", "Something behind the document."),
    ("second-document", HONEST + HONEST, "A second document behind the first."),
    ("cut-off", HONEST[:-1], "The closing brace is missing."),
    ("byte-order-mark", b"\xef\xbb\xbf" + HONEST, "Foundation skips a byte order mark."),
    ("utf-16-little-endian", HONEST.decode().encode("utf-16-le"), "Foundation reads UTF-16."),
    ("utf-16-big-endian", b"\xfe\xff" + HONEST.decode().encode("utf-16-be"), "Foundation reads UTF-16."),
    ("utf-32", HONEST.decode().encode("utf-32-le"), "Foundation reads UTF-32."),
    ("comment", HONEST[:-1] + b"/* signed */}", "JSON has no comments."),
    ("single-quotes", HONEST.replace(b'"sub"', b"'sub'"), "JSON has one kind of quotes."),
    ("duplicate-sub", members(("sub", "000001.someone.else")), "Some readers keep the first, some the last."),
    ("duplicate-sub-in-front", Pairs([("sub", "000001.someone.else"), *claims().items()]),
     "Some readers keep the first, some the last."),
    ("duplicate-aud-escaped", members((Name("\\u0061ud"), STRANGER_APP)),
     "The same name, once with an escape."),
    ("duplicate-with-equal-values", members(("iss", "https://appleid.apple.com")), "Twice is twice."),
    ("duplicate-unknown", members(("x", 1), ("x", 1)), "Also of members without a reader."),
    ("duplicate-nested", claims(ext={"in": Pairs([("a", 1), ("a", 2)])}),
     "Also inside members without a reader."),
    ("duplicate-nested-escaped", claims(ext=[Pairs([("a", 1), (Name("\\u0061"), 2)])]),
     "Also inside arrays without a reader."),
    ("invalid-utf-8", HONEST.replace(b"privaterelay", b"private\xffrelay"), "0xFF is never UTF-8."),
    ("overlong-utf-8", HONEST.replace(SUB.encode(), b"0018\xc0\xae47"), "A dot written in two bytes."),
    ("surrogate-in-utf-8", HONEST.replace(SUB.encode(), b"0018\xed\xa0\x8047"),
     "Half a character written in three bytes."),
    ("lone-high-surrogate", claims(sub=Raw('"0018\\ud83d47"')), "Half a character."),
    ("lone-low-surrogate", claims(sub=Raw('"0018\\udd1147"')), "The other half."),
    ("surrogates-swapped", claims(ext=Raw('"\\udd11\\ud83d"')), "Two halves in the wrong order."),
    ("nul-in-sub", claims(sub=Raw('"001847\\u0000.other"')),
     "An error in PostgreSQL, the end of a string in C."),
    ("nul-in-nonce", claims(nonce=Raw(f'"{NONCE}\\u0000"')), "The end of a string in C."),
    ("nul-in-unknown-claim", claims(ext=[Raw('"\\u0000"')]), "A later version that reads the claim would store it."),
    ("nul-in-name", members((Name("sub\\u0000"), "other")), "Cut off in C, this is a second sub."),
    ("raw-nul", HONEST.replace(SUB.encode(), b"001847\0"), "A control character without escape."),
    ("raw-newline-in-string", HONEST.replace(SUB.encode(), b"001847\n"),
     "A control character without escape."),
    ("unknown-escape", claims(sub=Raw('"001847\\x41"')), "JSON has no such escape."),
    ("nested-arrays", claims(ext=Raw("[" * 4000 + "]" * 4000)), "Recursion without a bound."),
    ("nested-objects", claims(ext=Raw('{"a":' * 1500 + "1" + "}" * 1500)), "Recursion without a bound."),
    ("nested-without-end", b'{"ext":' + b"[" * 11000, "Recursion without a bound, and no end."),
    ("members-without-bound", claims(**{f"x{i}": 0 for i in range(1000)}),
     "Finding duplicates costs more with each."),
    ("number-with-leading-zero", claims(iat=Raw("0" + str(ISSUED))), "Octal for some, decimal for others."),
    ("number-with-plus", claims(iat=Raw(f"+{ISSUED}")), "JSON has no plus sign."),
    ("number-hexadecimal", claims(exp=Raw("0x7fffffff")), "JSON has no hexadecimal."),
    ("number-nan", claims(exp=Raw("NaN")), "Every comparison with NaN is false."),
    ("number-infinity", claims(exp=Raw("Infinity")), "A token that never expires."),
    ("number-point-at-end", claims(exp=Raw(f"{ISSUED + DAY}.")), "No digit behind the point."),
    ("number-minus-alone", claims(exp=Raw("-")), "No digit at all."),
    ("literal-in-capitals", claims(email_verified=Raw("True")), "JSON's literals are in lower case."),
]:
    refused_claims(f"payload-{name}", "token_malformed", summary, payload)

# Kind.
refused_claims("kind-notification", "not_an_identity_token",
               "A notification signed by Apple is no sign-in.", notice(event()))
refused_claims("kind-events-beside-identity", "not_an_identity_token", "Both at once is neither.",
               claims(events="{}"))
refused_claims("kind-events-null", "not_an_identity_token", "Present is enough.", claims(events=None))
refused_claims("kind-events-and-expired", "not_an_identity_token",
               "What it is comes before whether it is still good.",
        notice(event()), at=ISSUED + 30 * DAY)

# Absent and of the wrong type.
for name in ("iss", "aud", "exp", "iat", "sub"):
    refused_claims(f"{name}-missing", "claim_missing", f"A token without {name}.", claims(**{name: Without}))
    refused_claims(f"{name}-null", "claim_malformed", "Null is not a value.", claims(**{name: None}))
for name, changes, summary in [
    ("iss-array", {"iss": ["https://appleid.apple.com"]}, "Contains Apple, and is not it."),
    ("iss-number", {"iss": 1}, "An issuer is a string."),
    ("aud-object", {"aud": {APP: True}}, "An audience is a string."),
    ("sub-number", {"sub": 1847}, "A subject is a string; a number loses digits."),
    ("sub-array", {"sub": [SUB]}, "A subject is a string."),
    ("nonce-number", {"nonce": 7}, "A nonce is a string."),
    ("email-verified-yes", {"email_verified": "yes"}, "Two strings are booleans, no other."),
    ("email-verified-in-capitals", {"email_verified": "TRUE"}, "Two strings are booleans, no other."),
    ("email-verified-empty", {"email_verified": ""}, "Two strings are booleans, no other."),
    ("email-verified-one", {"email_verified": 1}, "A number is no boolean."),
    ("nonce-supported-number", {"nonce_supported": 0}, "Read as false, it would excuse a missing nonce."),
    ("transfer-sub-number", {"transfer_sub": 1}, "A subject is a string."),
    ("c-hash-number", {"c_hash": 1}, "A hash is a string."),
    ("at-hash-boolean", {"at_hash": True}, "A hash is a string."),
]:
    refused_claims(name, "claim_malformed", summary, claims(**changes))

# Times that stop a process or a reader: every one is refused, none is computed with.
for name, value, summary in [
    ("1e300", "1e300", "Int(1e300) ends the process."),
    ("1e400", "1e400", "Infinity as a Double."),
    ("1e3", "1e3", "Foundation reads it as an integer."),
    ("point-zero", f"{ISSUED + DAY}.0", "Foundation reads it as an integer."),
    ("fractional", f"{ISSUED + DAY}.5", "Apple's times are whole seconds."),
    ("int64-max", str(2**63 - 1), "Adding the leeway overflows."),
    ("int64-max-and-one", str(2**63), "Does not fit 64 bits."),
    ("int64-min", str(-2**63), "Its magnitude does not fit 64 bits."),
    ("int64-min-less-one", str(-2**63 - 1), "Does not fit 64 bits."),
    ("two-to-the-64-and-more", str(2**64 + ISSUED + DAY), "Right again after wrapping around."),
    ("400-digits", "9" * 400, "No number type holds it."),
    ("past-the-last-second", str(LAST_SECOND + 1), "The year 10000 has no RFC 3339 form."),
    ("in-milliseconds", str((ISSUED + DAY) * 1000), "Milliseconds where seconds are meant."),
    ("minus-one", "-1", "Before the epoch."),
    ("string", f'"{ISSUED + DAY}"', "A string of digits is no number."),
    ("boolean", "true", "In some languages true is one."),
    ("date-string", '"2026-03-15T09:30:00Z"', "A date is no number."),
]:
    refused_claims(f"exp-{name}", "claim_malformed", summary, claims(exp=Raw(value)))
for name, value in {
    "1e300": "1e300", "1e3": "1e3", "point-zero": f"{ISSUED}.0", "int64-min": str(-2**63),
    "int64-max": str(2**63 - 1), "past-the-last-second": str(LAST_SECOND + 1), "minus-one": "-1",
    "string": f'"{ISSUED}"',
}.items():
    refused_claims(f"iat-{name}", "claim_malformed", "The bounds hold for every time.",
                   claims(iat=Raw(value)))
for name, value in {
    "1e300": "1e300", "int64-max": str(2**63 - 1), "minus-one": "-1", "string": f'"{ISSUED}"', "null": "null",
}.items():
    refused_claims(f"auth-time-{name}", "claim_malformed", "The bounds hold for every time.",
                   claims(auth_time=Raw(value)))

for name, value in {
    "1e300": "1e300", "int64-max": str(2**63 - 1), "minus-one": "-1", "string": f'"{ISSUED}"', "null": "null",
    "past-the-last-second": str(LAST_SECOND + 1),
}.items():
    refused_claims(f"not-before-{name}", "claim_malformed", "The bounds hold for every time.",
                   claims(nbf=Raw(value)))

# Issuer and audience: equal byte for byte, or refused.
for name, value, summary in [
    ("of-2025-discovery", "https://account.apple.com",
     "What discovery said for some days; no token ever did."),
    ("with-slash", "https://appleid.apple.com/", "One character more."),
    ("http", "http://appleid.apple.com", "Another scheme."),
    ("in-capitals", "HTTPS://APPLEID.APPLE.COM", "Issuers are compared as they are."),
    ("without-scheme", "appleid.apple.com", "Issuers are compared as they are."),
    ("of-attacker", "https://appleid.apple.com.attacker.example", "Begins like Apple's."),
    ("empty", "", "It names no one."),
    ("another-provider", "https://accounts.google.com", "Another provider's name."),
]:
    refused_claims(f"iss-{name}", "issuer_mismatch", summary, claims(iss=value))
refused_claims("iss-kelvin-sign", "issuer_mismatch", "U+212A equals K for String ==.",
               claims(iss="https://\u212a.example.com"),
        configuration={"issuers": ["https://K.example.com"]})
refused_claims("iss-decomposed", "issuer_mismatch", "NFC equals NFD for String ==.",
               claims(iss="https://caf\u00e9.example.com"),
        configuration={"issuers": ["https://cafe\u0301.example.com"]})
for name, value, summary in [
    ("array-of-one", [APP], "JWT allows it, Apple never sends it."),
    ("array-of-two", [APP, STRANGER_APP], "Ours among others: minted for another app too."),
    ("array-of-two-of-ours", [APP, WEB], "Exactly one audience."),
    ("array-empty", [], "For no app."),
    ("array-nested", [[APP]], "For no app that has a name."),
    ("of-another-app", STRANGER_APP, "A token that another app got from Apple: the oldest attack of all."),
    ("in-another-case", "COM.example.siwa.app", "Bundle IDs are compared as they are."),
    ("with-space", APP + " ", "Equal only after trimming."),
    ("longer", APP + ".beta", "Begins like ours."),
    ("shorter", APP[:-1], "Ours begins like this."),
    ("empty", "", "For no app."),
    ("both-in-one-string", f"{APP},{WEB}", "The configuration's own text."),
    ("wildcard", "*", "For every app."),
]:
    refused_claims(f"aud-{name}", "audience_mismatch", summary, claims(aud=value))
refused_claims("aud-kelvin-sign", "audience_mismatch", "U+212A equals K for String ==, also in dictionaries.",
        claims(aud="com.example.\u212aiosk"), configuration={"client_ids": [APP, "com.example.Kiosk"]})
refused_claims("aud-decomposed", "audience_mismatch", "NFC equals NFD for String ==, also in dictionaries.",
        claims(aud="com.example.caf\u00e9"), configuration={"client_ids": [APP, "com.example.cafe\u0301"]})
refused_claims("aud-not-the-narrowed-one", "audience_mismatch",
               "Ours, but not the one that the caller asked for.",
        claims(aud=APP), expecting={"client_id": WEB})
refused_claims("aud-only-of-the-request", "audience_mismatch", "The request narrows and never widens.",
        claims(aud=STRANGER_APP), expecting={"client_id": STRANGER_APP})
refused_claims("aud-kelvin-sign-in-request", "audience_mismatch", "U+212A equals K for String ==.",
        claims(aud="com.example.Kiosk"), configuration={"client_ids": ["com.example.Kiosk"]},
        expecting={"client_id": "com.example.\u212aiosk"})

# Times: the far side of every bound.
for leeway in (0, 60, 300):
    with_leeway = None if leeway == 60 else {"leeway_seconds": leeway}
    refused_claims(f"expired-leeway-of-{leeway}-used-up", "token_expired",
            "A token must not be accepted on or after exp (RFC 7519 §4.1.4), here moved by the leeway.",
            claims(), at=ISSUED + DAY + leeway, configuration=with_leeway)
    refused_claims(f"issued-ahead-by-more-than-leeway-of-{leeway}", "issued_in_future",
                   "One second past the leeway.",
            claims(iat=AT + leeway + 1, auth_time=AT), configuration=with_leeway)
    refused_claims(f"not-before-ahead-by-more-than-leeway-of-{leeway}", "token_not_yet_valid",
                   "A token must not be accepted before nbf (RFC 7519 §4.1.5), here moved by the leeway.",
                   claims(nbf=AT + leeway + 1), configuration=with_leeway)
refused_claims("not-before-last-second", "token_not_yet_valid", "A token for the year 9999.",
               claims(nbf=LAST_SECOND))
refused_claims("expired-two-days-ago", "token_expired", "Tokens live for a day.", claims(),
               at=ISSUED + 3 * DAY)
refused_claims("expired-one-second-past-leeway", "token_expired", "One second past the bound.", claims(),
               at=ISSUED + DAY + 61)
refused_claims("exp-zero", "token_expired", "1970.", claims(exp=0))
refused_claims("exp-minus-zero", "token_expired", "Minus zero is zero (RFC 8259 §6).", claims(exp=Raw("-0")))
refused_claims("exp-of-2019-lifetime", "token_expired", "A token of ten minutes, an hour later.",
        claims(exp=ISSUED + 600), at=ISSUED + 3600)
refused_claims("iat-last-second", "issued_in_future", "The largest time that is taken, and far ahead.",
               claims(iat=LAST_SECOND))
refused_claims("auth-time-ahead", "issued_in_future",
        "An authorization moment in the future would outlive every revocation until then.",
        claims(auth_time=AT + 61))
refused_claims("auth-time-last-second", "issued_in_future", "Would outlive every revocation for ever.",
        claims(auth_time=LAST_SECOND))

# Subject.
for name, value, summary in [
    ("empty", "", "It names no one."),
    ("of-256-characters", "s" * 256, "One character more than is kept."),
    ("of-9000-characters", "s" * 9000, "No identifier."),
    ("with-newline", "001847\n.0930", "Ends a line in a log."),
    ("with-escape", "001847\x1b[2J", "Clears a terminal that shows a log."),
    ("with-delete", "001847\x7f", "U+007F is a control character."),
    ("with-next-line", "001847\u0085", "U+0085 is a control character, and ends a line."),
]:
    refused_claims(f"sub-{name}", "subject_invalid", summary, claims(sub=value))

# Nonce.
for name, changes in {"claimed-supported": {}, "support-not-claimed": {"nonce_supported": Without}}.items():
    refused_claims(f"nonce-missing-{name}", "nonce_missing",
                   "A token without nonce can be one that was stolen elsewhere.",
            claims(**changes), expecting={"nonce": NONCE})
HEX = sha256_hex(NONCE)
for name, value, summary in [
    ("of-another-session", "0e7a4b1c-another-nonce", "A token replayed from another session."),
    ("empty", "", "Nothing was sent."),
    ("in-upper-case-hex", HEX.upper(), "The encodings are exact."),
    ("prefix-of-hex", HEX[:32], "Half a hash."),
    ("hashed-twice", sha256_hex(HEX), "The hash of the hash."),
    ("with-space", NONCE + " ", "Equal only after trimming."),
    ("in-another-case", NONCE.upper(), "Compared as it is."),
    ("base64-of-hex-text", base64url(HEX.encode()), "No encoding of the hash's bytes."),
    ("base64-without-first-character", sha256_base64(NONCE)[1:], "Nearly."),
]:
    refused_claims(f"nonce-{name}", "nonce_mismatch", summary, claims(nonce=value),
                   expecting={"nonce": NONCE})
refused_claims("nonce-kelvin-sign", "nonce_mismatch", "U+212A equals K for String ==.",
               claims(nonce="key-\u212a-1"),
        expecting={"nonce": "key-K-1"})
refused_claims("nonce-decomposed", "nonce_mismatch", "NFC equals NFD for String ==.",
               claims(nonce="cafe\u0301-1"),
        expecting={"nonce": "caf\u00e9-1"})
refused_claims("nonce-hash-posted-for-raw", "nonce_mismatch",
               "The caller posted the hash, the token holds the raw value.",
        claims(nonce=NONCE), expecting={"nonce": HEX})
refused_claims("nonce-unsupported-but-wrong", "nonce_mismatch",
               "A nonce that is there is compared all the same.",
        claims(nonce_supported=False, nonce="another"), expecting={"nonce": NONCE})

# Code and access token.
for word, claim, posted, secret in [
    ("code", "c_hash", "authorization_code", CODE), ("access_token", "at_hash", "access_token", ACCESS_TOKEN),
]:
    slug = word.replace("_", "-")
    other = {"c_hash": "at_hash", "at_hash": "c_hash"}[claim]
    expecting = {posted: secret}
    refused_claims(f"{slug}-hash-missing", f"{word}_hash_missing",
                   "Nothing binds what was posted to this token.",
            claims(), expecting=expecting)
    refused_claims(f"{slug}-hash-only-the-other-one", f"{word}_hash_missing",
                   "The other hash says nothing about this.",
            claims(**{other: left_half(secret)}), expecting=expecting)
    for name, value, summary in [
        ("of-another", left_half("of somebody else"), "Another user's was injected."),
        ("whole", base64url(bytes.fromhex(sha256_hex(secret))), "The whole hash instead of its left half."),
        ("in-hex", sha256_hex(secret)[:32], "The right half-hash in another encoding."),
        ("padded", left_half(secret) + "==", "The right half-hash with padding."),
        ("empty", "", "An empty hash."),
    ]:
        refused_claims(f"{slug}-hash-{name}", f"{word}_hash_mismatch", summary, claims(**{claim: value}),
                       expecting=expecting)

# The first check that fails names the refusal.
refused_claims("order-issuer-before-audience", "issuer_mismatch",
               "Wrong in every claim: the issuer is checked first.",
        claims(iss="https://attacker.example", aud=STRANGER_APP, exp=1, iat=LAST_SECOND, sub=""))
refused_claims("order-audience-before-expiry", "audience_mismatch",
               "For another app and expired: the audience comes first.",
        claims(aud=STRANGER_APP, exp=1))
refused_claims("order-expiry-before-nonce", "token_expired",
               "Expired and without nonce: the expiry comes first.",
        claims(exp=ISSUED), at=ISSUED + DAY, expecting={"nonce": NONCE})
refused("order-signature-before-payload", "signature_invalid",
        "Nothing of a payload is read before its signature is known.",
        signed(claims()).replace(".", ".AAAA", 1))
