"""Identity tokens that must be accepted: what Apple sends, what it once sent, and the near side of every bound."""

from cases import (
    APP, AT, DAY, ISSUED, ISSUER, LAST_SECOND, SUB, WEB, Without, accepted, claims, header, identity,
    left_half,
    sha256_base64, sha256_base64url, sha256_hex, signed,
)
from jws import Raw, json_text

CODE = "c5f1e8a7d9b24c3f.0.srtwy.9Qm2vXn7Zk4Lp8Rd"
ACCESS_TOKEN = "a1d7c3e9b5f84260.r0.mzty.3HxWq6Vn8Jb2Kf5s"
NONCE = "0e7a4b1c-raw-nonce-of-the-app"

# What Apple sends.
accepted("native-sign-in", "The token of an iOS app today; everything else departs from it.", claims())
accepted(
    "web-sign-in",
    "A Services ID is an audience like a bundle ID, and the web flow brings a code and a raw nonce.",
    claims(aud=WEB, nonce=NONCE, c_hash=left_half(CODE), auth_time=ISSUED - 3),
    expecting={"nonce": NONCE, "client_id": WEB, "authorization_code": CODE})
accepted(
    "only-required-claims", "Five claims are promised; everything else may be absent.",
    {"iss": ISSUER, "aud": APP, "exp": ISSUED + DAY, "iat": ISSUED, "sub": SUB})
accepted(
    "as-in-2019", "Old tokens lived ten minutes and had neither e-mail address nor auth_time.",
    {"iss": ISSUER, "aud": WEB, "exp": ISSUED + 600, "iat": ISSUED, "sub": SUB,
     "at_hash": left_half(ACCESS_TOKEN)},
    expecting={"access_token": ACCESS_TOKEN})
accepted(
    "managed-account-in-transfer", "Team transfer and managed accounts add claims.",
    claims(transfer_sub="001847.t." + "0c" * 8, org_id="ORG-71", real_user_status=0, scopes="openid email"))
accepted(
    "real-e-mail-address", "Without a relay address Apple leaves is_private_email out.",
    claims(email="person@example.com", is_private_email=Without, email_verified=False))
accepted("booleans-as-true-strings", "Until 2023 Apple wrote booleans as strings.",
         claims(email_verified="true", is_private_email="true"))
accepted("booleans-as-false-strings", "The string false is false, not a non-empty string.",
         claims(email_verified="false", is_private_email="false"))
accepted("booleans-false", "An address can be unverified.",
         claims(email_verified=False, is_private_email=False))
accepted(
    "relay-domain-with-private-false", "The claim decides whether an address is a relay, never its domain.",
    claims(is_private_email=False))
for name, address, summary in [
    ("of-apple", "q4zjk7x2rt@privaterelay.appleid.com", "Real tokens have a relay address without the claim."),
    ("announced", "q4zjk7x2rt@private.icloud.com", "The domain that Apple announced for new relay addresses."),
    ("in-capitals", "q4zjk7x2rt@PrivateRelay.AppleID.com", "Domains are compared without regard to case."),
    ("as-suffix", "ada@mail.privaterelay.appleid.com", "Exactly the domain, or nothing is known."),
    ("as-end-of-another", "ada@notprivaterelay.appleid.com", "Exactly the domain, or nothing is known."),
    ("as-prefix", "ada@privaterelay.appleid.com.attacker.example", "Exactly the domain, or nothing is known."),
]:
    accepted(f"relay-domain-without-claim-{name}", summary, claims(email=address, is_private_email=Without))
# What decides nothing is left out when its form is wrong; the token is as good as without it.
for name, changes, summary in [
    ("email-number", {"email": 7}, "An e-mail address is a string."),
    ("email-null", {"email": None}, "Null is not a value."),
    ("email-dash", {"email": "-"}, "A dash is no address."),
    ("private-email-no", {"is_private_email": "no"}, "Two strings are booleans, no other."),
    ("private-email-zero", {"is_private_email": 0}, "A number is no boolean."),
    ("real-user-status-string", {"real_user_status": "2"}, "A status is a number."),
    ("real-user-status-fractional", {"real_user_status": Raw("1.5")}, "A status is a whole number."),
    ("org-id-number", {"org_id": 71}, "An organization is a string."),
]:
    left = {member: Without for member in changes}
    # The relay domain decides where the claim says nothing, and nothing decides without an address.
    accepted(f"dropped-{name}", summary, claims(**changes), found=identity(claims(**left)))
accepted("sub-of-unknown-form",
         "Only a unique, stable string is promised; the usual form must not be required.",
         claims(sub="x"))
accepted("sub-of-255-characters", "The longest subject that is taken.", claims(sub="s" * 255))
accepted("typ-in-header", "An unknown but harmless header member changes nothing.", claims(),
         token=signed(claims(), head={"typ": "JWT", **header()}))
accepted(
    "unknown-claims-of-any-shape", "Claims that Apple adds one day are skipped, with values of any type.",
    claims(ext={"list": [1, [2, {"deep": None}]], "iss": "nested"}, big=Raw("1e400"), tiny=Raw("-1.5E-9"),
           none=None))
accepted(
    "json-written-differently", "White space, escapes and another order are the same JSON.",
    claims(), token=signed(
        ("{\n\t\"sub\" : " + json_text(SUB) + ",\r\n " + ", ".join(
            f'"{"".join(f"{chr(92)}u{ord(c):04X}" for c in name)}" : {json_text(value)}'
            for name, value in claims().items() if name != "sub") + "}  "
    ).replace("https://", "https:\\/\\/").encode()))
accepted("emoji-as-surrogate-pair", "A pair of \\u escapes beyond the basic plane is one character.",
         claims(nonce="key \U0001f511"), token=signed(claims(nonce=Raw('"key \\ud83d\\udd11"'))),
         expecting={"nonce": "key \U0001f511"})
accepted("sub-composed", "A subject is its bytes: this one is in NFC.", claims(sub="caf\u00e9.1"))
accepted("sub-decomposed",
         "A subject is its bytes: this one is in NFD and another person than the one in NFC.",
         claims(sub="cafe\u0301.1"))
accepted("issuer-configured-beside-apple", "The allow-list can name a second issuer.",
         claims(iss="https://account.apple.com"),
         configuration={"issuers": [ISSUER, "https://account.apple.com"]})


def of_size(size):
    """Header and payload are both stretched, because base64url cannot reach every length by one of them alone."""

    def encoded(count):
        return (count * 4 + 2) // 3

    for padding in range(3):
        head = {**header(), "typ": "J" + "W" * padding}
        left = size - encoded(len(json_text(head))) - encoded(256) - 2
        longest = left * 3 // 4 - len(json_text(claims(filler="")))
        for filler in range(longest - 2, longest + 2):
            payload = claims(filler="x" * filler)
            if encoded(len(json_text(payload))) == left:
                return payload, head
    raise AssertionError("no token of that size")


PAYLOAD_16_KIB, HEADER_16_KIB = of_size(16 * 1024)
accepted("of-16-kib", "The longest token that is read.", PAYLOAD_16_KIB,
         token=signed(PAYLOAD_16_KIB, head=HEADER_16_KIB))

# The key set.
for name, signer, summary in [
    ("second", "signer-2",
     "The key is found by its ID: services that take the first of the set refuse this."),
    ("last", "signer-3", "Apple's order is random from call to call."),
]:
    accepted(f"key-{name}-in-set", summary, claims(), token=signed(claims(), key=signer))
accepted("key-beside-strangers",
         "Entries that are of no use are skipped, and the good one beside them works.", claims(),
         key_set="beside-strangers.json")
accepted("key-without-use-and-alg", "Both members are optional (RFC 7517 §4.2, §4.4).", claims(),
         key_set="without-use-and-alg.json")
for name in ("verify", "among-others"):
    accepted(f"key-ops-{name}", "A key whose operations include verify may verify (RFC 7517 §4.3).", claims(),
             token=signed(claims(), head=header(kid="fxKeyOps01")), key_set=f"key-ops-{name}.json")
accepted("key-twice-in-set", "The same key twice is no ambiguity.", claims(), key_set="same-key-twice.json")
accepted("key-shares-kid-with-elliptic-curve", "Only two usable keys under one ID are ambiguous.", claims(),
         key_set="rsa-and-elliptic-under-one-kid.json")
for bits in (3072, 4096):
    head = header(kid=f"fxRSA{bits}")
    accepted(f"key-of-{bits}-bits", "Apple could move to longer keys.", claims(),
             token=signed(claims(), head=head, key=f"rsa-{bits}"), key_set=f"bits-{bits}.json")
accepted("kid-of-64-characters", "The longest key ID that is taken.", claims(),
         token=signed(claims(), head=header(kid="k" * 64)), key_set="kid-of-64-characters.json")

# Times: the near side of every bound.
for leeway in (0, 60, 300):
    with_leeway = None if leeway == 60 else {"leeway_seconds": leeway}
    accepted(f"expired-within-leeway-of-{leeway}", "The last second in which the token still counts.",
             claims(), at=ISSUED + DAY + leeway - 1, configuration=with_leeway)
    accepted(f"issued-ahead-by-leeway-of-{leeway}",
             "Apple's clock may run ahead of ours by exactly the leeway.",
             claims(iat=AT + leeway, auth_time=AT + leeway), configuration=with_leeway)
    accepted(f"not-before-ahead-by-leeway-of-{leeway}", "The first second in which the token counts.",
             claims(nbf=AT + leeway), configuration=with_leeway)
accepted("not-before-in-the-past", "A time that is over restricts nothing.", claims(nbf=0))
accepted("exp-last-second", "The largest time that is taken.", claims(exp=LAST_SECOND))
accepted("exp-last-second-at-the-end-of-time",
         "Adding the leeway to the last second must not leave the range.",
         claims(exp=LAST_SECOND, iat=LAST_SECOND - 60, auth_time=LAST_SECOND - 60), at=LAST_SECOND,
         configuration={"leeway_seconds": 300})
accepted("at-the-beginning-of-time",
         "Subtracting the leeway from the first seconds must not leave the range.",
         claims(exp=0, iat=0, auth_time=0), at=30)
accepted("iat-minus-zero", "Minus zero is zero (RFC 8259 §6), and old.",
         claims(iat=0), token=signed(claims(iat=Raw("-0"))), found=identity(claims(iat=0)))
accepted("auth-time-before-iat", "A web sign-in takes seconds: the authorization moment is auth_time.",
         claims(auth_time=ISSUED - 4))
accepted("auth-time-long-before-iat", "A token minted today can rest on an old authorization.",
         claims(auth_time=ISSUED - 90 * DAY))
accepted("auth-time-absent", "Without auth_time the authorization moment is iat.", claims(auth_time=Without))
accepted("auth-time-after-iat", "Clocks within Apple differ by a second.", claims(auth_time=ISSUED + 1))

# Nonce, code and access token.
for encoding, value in [
    ("raw", NONCE), ("sha256-hex", sha256_hex(NONCE)), ("sha256-base64url", sha256_base64url(NONCE)),
    ("sha256-base64", sha256_base64(NONCE)),
]:
    accepted(f"nonce-{encoding}", "Apple passes through what the app sent; apps send one of four encodings.",
             claims(nonce=value), expecting={"nonce": NONCE})
assert sha256_base64(NONCE).rstrip("=") != sha256_base64url(NONCE)
accepted("nonce-not-asked-for", "A nonce that the caller did not post cannot be compared.",
         claims(nonce=NONCE))
accepted("nonce-unsupported-and-absent",
         "A missing nonce is excused when the platform says it could not send one.",
         claims(nonce_supported=False), expecting={"nonce": NONCE})
accepted("nonce-unsupported-but-right", "A nonce that is there is compared all the same.",
         claims(nonce_supported=False, nonce=NONCE), expecting={"nonce": NONCE})
accepted("code-hash-right", "The left half of the code's SHA-256.", claims(c_hash=left_half(CODE)),
         expecting={"authorization_code": CODE})
accepted("access-token-hash-right", "The left half of the access token's SHA-256.",
         claims(at_hash=left_half(ACCESS_TOKEN)), expecting={"access_token": ACCESS_TOKEN})
accepted("hashes-not-asked-for", "Hashes of what the caller did not post are not compared.",
         claims(c_hash=left_half("another code"), at_hash=left_half("another token")))
accepted("client-id-narrowed", "The caller may name the one client ID that it wants.", claims(aud=WEB),
         expecting={"client_id": WEB})
