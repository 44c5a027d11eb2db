"""Identity tokens that must be refused before a key is looked up, or while one is: size, form, header, key."""

from cases import Without, claims, header, refused, signed, sha256_hex
from identity_accepted import of_size
from jws import (
    Name, Pairs, Raw, base64_standard, base64url, json_bytes, segments, signing_input, with_stray_bits,
)
from keys import SHA256_INFO, digest_block, hs256, rsa

HONEST = signed(claims())
HEAD, BODY, SIGNATURE = segments(HONEST)

# Size.
payload, head = of_size(16 * 1024 + 1)
refused("size-16-kib-and-one", "token_too_large", "One byte more than is read, however well signed.",
        signed(payload, head=head))
refused("size-10-megabytes", "token_too_large", "Libraries that decode on the stack are killed by this.",
        [{"text": HEAD + "."}, {"text": "QUFB", "times": 2621440}, {"text": "." + SIGNATURE}])
refused("size-10-megabytes-of-dots", "token_too_large",
        "Splitting before measuring makes ten million pieces of this.",
        [{"text": ".", "times": 10485760}])

# Segments.
for name, token, summary in [
    ("none", "", "Nothing was posted."),
    ("all-empty", "..", "Three segments of nothing; some libraries write out of bounds here."),
    ("two", f"{HEAD}.{BODY}", "A token that lost its signature."),
    ("two-dot-at-end", f"{HEAD}.{BODY}.", "The form of an unsecured JWS: the signature is empty."),
    ("four", f"{HONEST}.{SIGNATURE}", "One segment too many."),
    ("five", f"{HONEST}.{BODY}.{SIGNATURE}", "The form of an encrypted token (RFC 7516 §3.1)."),
    ("header-empty", f".{BODY}.{SIGNATURE}", "No header."),
    ("payload-empty", f"{HEAD}..{SIGNATURE}", "The detached form of RFC 7515 appendix F."),
    ("dot-in-front", f".{HONEST}", "An empty segment in front of an honest token."),
    ("json-serialization", json_bytes({"payload": BODY, "protected": HEAD, "signature": SIGNATURE}).decode(),
     "The JSON serialization of RFC 7515 §7.2 is not the compact one."),
    ("bearer-in-front", f"Bearer {HONEST}", "A header's value pasted whole."),
]:
    refused(f"segments-{name}", "token_malformed", summary, token)

# base64url: one spelling for every byte string.
for part, segment in {"header": HEAD, "payload": BODY, "signature": SIGNATURE}.items():
    def respelled(new):
        return HONEST.replace(segment, new)

    refused(f"base64-padded-{part}", "token_malformed", "JWS has no padding (RFC 7515 §2).",
            respelled(segment + "=" * (-len(segment) % 4 or 1)))
    refused(f"base64-white-space-in-{part}", "token_malformed", "Lenient decoders skip white space.",
            respelled(segment[:40] + "\n" + segment[40:]))
refused("base64-stray-bits-in-signature", "token_malformed", "The same signature in a second spelling.",
        f"{HEAD}.{BODY}.{with_stray_bits(SIGNATURE)}")
for part, text in {
    "header": signing_input(header(typ="JWT"), claims()),
    "payload": signing_input(header(), claims(filler="")),
}.items():
    head, body = text.split(".")
    text = f"{with_stray_bits(head)}.{body}" if part == "header" else f"{head}.{with_stray_bits(body)}"
    refused(f"base64-stray-bits-in-{part}", "token_malformed",
            "Unused bits are set, and the signature is good for exactly this spelling.",
            f"{text}.{base64url(rsa('signer-1').sign(text))}")
standard = base64_standard(rsa("signer-1").sign(signing_input(header(), claims()))).rstrip("=")
assert "+" in standard and "/" in standard
refused("base64-plus-and-slash", "token_malformed", "The standard alphabet is another one.",
        f"{HEAD}.{BODY}.{standard}")
refused("base64-impossible-length", "token_malformed", "No byte string has a length of 4n + 1.",
        HONEST + "AAA")
refused("base64-newline-at-end", "token_malformed", "A token read from a file with its newline.",
        HONEST + "\n")
refused("base64-space-in-front", "token_malformed", "White space in front.", " " + HONEST)
refused("base64-nul-at-end", "token_malformed", "The end of a string in C.", HONEST + "\0")
refused("base64-kelvin-sign", "token_malformed",
        "U+212A equals K for String ==, and is no letter of the alphabet.",
        HONEST.replace("K", "\u212a", 1))
assert "\u212a" in HONEST.replace("K", "\u212a", 1)
refused("base64-junk-in-signature", "token_malformed", "Lenient decoders skip what is not in the alphabet.",
        f"{HEAD}.{BODY}.!!{SIGNATURE}")
refused("base64-percent-encoded", "token_malformed", "A form field that was not decoded.",
        HONEST.replace(".", "%2E"))

# Header JSON.
for name, head, summary in [
    ("not-json", b"kid=fxSigner01;alg=RS256", "Something else than JSON."),
    ("array", Raw('["RS256","fxSigner01"]'), "JSON, but not an object."),
    ("string", Raw('"RS256"'), "JSON, but not an object."),
    ("byte-order-mark", b"\xef\xbb\xbf" + json_bytes(header()), "Foundation skips a byte order mark."),
    ("utf-16", "\ufeff".encode("utf-16-le") + json_bytes(header()).decode().encode("utf-16-le"),
     "Foundation reads UTF-16."),
    ("trailing-comma", Raw('{"kid":"fxSigner01","alg":"RS256",}'), "Foundation reads trailing commas."),
    ("trailing-bytes", json_bytes(header()) + b"{}", "A second document behind the first."),
    ("duplicate-kid", Pairs([("kid", "fxSigner02"), *header().items()]), "Which of two key IDs counts?"),
    ("duplicate-alg", Pairs([("alg", "none"), *header().items()]), "Which of two algorithms counts?"),
    ("duplicate-alg-escaped", Pairs([*header().items(), (Name("\\u0061lg"), "none")]),
     "The same name, once written with an escape."),
    ("duplicate-nested", header(ext=Pairs([("a", 1), ("a", 2)])),
     "Two equal names inside an unknown member."),
    ("invalid-utf-8", json_bytes(header()).replace(b"RS256", b"RS256\xff"), "0xFF is never UTF-8."),
    ("lone-surrogate", header(typ=Raw('"\\ud800"')), "An escape that is no character."),
    ("nul-in-kid", header(kid=Raw('"fxSigner01\\u0000x"')), "Cut off in C, this is a good key ID."),
    ("nested-deeply", header(ext=Raw("[" * 3000 + "]" * 3000)), "Recursion without a bound."),
]:
    refused(f"header-{name}", "token_malformed", summary, signed(claims(), head=head))

# Header members that choose a key, or change what is signed.
for name, value, summary in [
    ("crit", ["exp"], "Extensions that must be understood are not (RFC 7515 §4.1.11)."),
    ("crit", [], "Present is enough."),
    ("b64", False, "The payload would be signed without base64url (RFC 7797 §3)."),
    ("b64", True, "Present is enough."),
    ("jwk", rsa("stranger").jwk("fxSigner01"), "The attacker brings his own key."),
    ("jku", "https://keys.attacker.example/keys.json", "The attacker brings his own key set."),
    ("x5u", "https://keys.attacker.example/chain.pem", "The attacker brings his own certificate."),
    ("x5c", ["MIIB"], "The attacker brings his own certificate chain."),
]:
    suffix = {"[]": "-empty", "True": "-true"}.get(str(value), "")
    signer = "stranger" if name in ("jwk", "jku", "x5u", "x5c") else "signer-1"
    refused(f"header-{name}{suffix}", "header_not_allowed", summary,
            signed(claims(), head=header(**{name: value}), key=signer))

# Algorithms: RS256, never by the token's choice.
pem = rsa("signer-1").public_pem()
text = signing_input(header(alg="HS256"), claims())
refused("alg-hs256-keyed-with-public-pem", "algorithm_not_allowed",
        "The public key is public; as a secret of HMAC it forges every token.",
        f"{text}.{base64url(hs256(pem, text))}")
refused("alg-hs256-keyed-with-public-pem-trimmed", "algorithm_not_allowed",
        "The same without the last newline.",
        f"{text}.{base64url(hs256(pem.rstrip(), text))}")
for name, value, summary in [
    ("none", "none", "Unsecured, with something in the place of the signature."),
    ("none-in-capitals", "NONE", "A comparison with none alone lets this pass."),
    ("none-mixed-case", "nOnE", "A comparison with none alone lets this pass."),
    ("rs256-in-lower-case", "rs256", "Names of algorithms are case-sensitive (RFC 7515 §4.1.1)."),
    ("rs256-with-space", "RS256 ", "Equal only after trimming."),
    ("empty", "", "No algorithm at all."),
    ("rs256-with-combining-mark", "RS256\u0301", "Equal only to its first five characters."),
]:
    refused(f"alg-{name}", "algorithm_not_allowed", summary, signed(claims(), head=header(alg=value)))
for name, digest in {"rs384": "sha384", "rs512": "sha512", "rs1": "sha1"}.items():
    text = signing_input(header(alg=name.upper()), claims())
    refused(f"alg-{name}", "algorithm_not_allowed", "Honestly signed with Apple's key, by another algorithm.",
            f"{text}.{base64url(rsa('signer-1').sign(text, digest))}")
text = signing_input(header(alg="PS256"), claims())
refused("alg-ps256", "algorithm_not_allowed", "Honestly signed with Apple's key, by another padding.",
        f"{text}.{base64url(rsa('signer-1').sign_pss(text))}")
# ECDSA draws a random number, so this one signature is frozen here; --check verifies it with openssl.
ES256_SIGNATURE = "hpUARts3itM_MvJMerk8jh3FgHjzTP6uPNhdVkmW26Mc1S-IPp61YugOyvbhmZF_64lgYS0NmdPhdYj83UoYXw"
ES256_TEXT = signing_input(header(kid="fxElliptic1", alg="ES256"), claims())
refused("alg-es256", "algorithm_not_allowed",
        "Honestly signed with an elliptic-curve key that is in the set.",
        f"{ES256_TEXT}.{ES256_SIGNATURE}", key_set="beside-strangers.json")
refused("alg-missing", "algorithm_not_allowed", "A default would be the token's choice.",
        signed(claims(), head=header(alg=Without)))
refused("alg-null", "algorithm_not_allowed", "A default would be the token's choice.",
        signed(claims(), head=header(alg=None)))
refused("alg-array", "algorithm_not_allowed", "Contains RS256, and is not it.",
        signed(claims(), head=header(alg=["RS256"])))

# Key IDs.
for name, value in {
    "missing": Without, "empty": "", "number": 1, "null": None, "array": ["fxSigner01"],
}.items():
    refused(f"kid-{name}", "key_id_invalid",
            "Without a key ID there is no key, not even when the set has one only.",
            signed(claims(), head=header(kid=value)), key_set="one-key.json")
refused("kid-of-65-characters", "key_id_invalid", "One character more than is looked up.",
        signed(claims(), head=header(kid="k" * 65)), key_set="kid-of-65-characters.json")
refused("kid-of-5000-characters", "key_id_invalid", "A key ID is no place to keep data.",
        signed(claims(), head=header(kid="k" * 5000)))
for name, kid, key_set, summary in [
    ("unknown", "fxStranger", "current.json", "No such key."),
    ("of-a-key-that-left", "fxSigner01", "rotated.json", "A key that left the set is gone."),
    ("in-another-case", "FXSIGNER01", "current.json", "Key IDs are case-sensitive."),
    ("with-space", "fxSigner01 ", "current.json", "Equal only after trimming."),
    ("with-wildcard", "%", "current.json", "No pattern is looked up."),
    ("path-traversal", "../../keys/signer-1", "current.json", "No file is looked up."),
    ("sql", "' OR '1'='1", "current.json", "No database is asked."),
    ("kelvin-sign-in-token", "fx\u212aelvin01", "kid-with-ascii-k.json", "U+212A equals K for String ==."),
    ("kelvin-sign-in-set", "fxKelvin01", "kid-with-kelvin-sign.json", "U+212A equals K for String ==."),
    ("composed", "fxCaf\u00e9001", "kid-decomposed.json", "NFC equals NFD for String ==."),
    ("number-in-set", "1", "kid-a-number.json", "A number is no key ID."),
    ("undefined", "undefined", "kid-missing.json", "An entry without key ID has none."),
    ("ambiguous", "fxSigner01", "two-keys-under-one-kid.json",
     "Two different keys under one ID: neither counts."),
]:
    refused(f"kid-{name}", "unknown_key", summary, signed(claims(), head=header(kid=kid)), key_set=key_set)

# Keys that must not verify anything, with signatures that they would verify.
for name, kid, signer, summary in [
    ("bits-1024", "fxRSA1024", "rsa-1024", "Too short to be safe."),
    ("bits-2047", "fxRSA2047", "rsa-2047", "One bit too short."),
    ("bits-4104", "fxRSA4104", "rsa-4104", "One byte too long."),
    ("bits-8192", "fxRSA8192", "rsa-8192", "Costs many times as much as Apple's keys."),
    ("exponent-3", "fxExponent", "exponent-3",
     "Small exponents make forging cheap where padding is read leniently."),
    ("use-enc", "fxUseEnc01", "signer-1", "A key to encrypt with signs nothing."),
    ("key-ops-sign", "fxKeyOps01", "signer-1", "A key that is not for verifying (RFC 7517 §4.3)."),
    ("key-ops-empty", "fxKeyOps01", "signer-1", "A key that is for nothing."),
    ("key-ops-in-capitals", "fxKeyOps01", "signer-1", "Operations are case-sensitive (RFC 7517 §4.3)."),
    ("key-ops-a-string", "fxKeyOps01", "signer-1", "Operations are an array."),
    ("key-ops-with-a-number", "fxKeyOps01", "signer-1", "Operations are strings, all of them."),
    ("key-ops-twice", "fxKeyOps01", "signer-1", "No operation may be named twice (RFC 7517 §4.3)."),
    ("alg-rs512", "fxAlgRS512", "signer-1", "The key is meant for another algorithm."),
    ("type-elliptic", "fxElliptic1", "signer-1", "No RSA key."),
    ("type-in-lower-case", "fxLower001", "signer-1", "Key types are case-sensitive (RFC 7517 §4.1)."),
    ("modulus-in-standard-base64", "fxBase6401", "signer-1", "The standard alphabet is another one."),
    ("modulus-padded", "fxPadded01", "signer-1", "JWK has no padding."),
    ("modulus-a-number", "fxNumber01", "signer-1", "A modulus is a string."),
    ("modulus-missing", "fxMissing1", "signer-1", "No modulus at all."),
    ("modulus-even", "fxEvenOne1", "signer-1",
     "No product of two primes; arithmetic on it goes wrong in the library."),
]:
    refused(f"key-{name}", "unknown_key", summary, signed(claims(), head=header(kid=kid), key=signer),
            key_set=f"{name}.json")
key = rsa("signer-1")
head = header(kid="fxExponent")
text = signing_input(head, claims(sub="forged without any key"))
block = digest_block(key, SHA256_INFO + bytes.fromhex(sha256_hex(text)))
refused("key-exponent-1", "unknown_key", "With e = 1 the padded digest is its own signature: no private key is needed.",
        f"{text}.{base64url(block)}", key_set="exponent-1.json")
text = signing_input(head, claims())
block = digest_block(key, SHA256_INFO + bytes.fromhex(sha256_hex(text)))
slow = pow(int.from_bytes(block, "big"), key.e, key.n)
assert pow(slow, key.d, key.n).to_bytes(256, "big") == block
refused("key-exponent-huge", "unknown_key",
        "A valid signature under an exponent that costs hundreds of times as much.",
        f"{text}.{base64url(slow.to_bytes(256, 'big'))}", key_set="exponent-huge.json")
