"""Identity tokens whose signature is not Apple's, however close it comes."""

from cases import claims, header, refused, signed, sha256_hex
from jws import base64url, base64url_decode, compact, segments, signing_input
from keys import SHA256_INFO, digest_block, hs256, rsa

KEY = rsa("signer-1")
HONEST = signed(claims())
HEAD, BODY, _ = segments(HONEST)
TEXT = f"{HEAD}.{BODY}"
SIGNATURE = base64url_decode(segments(HONEST)[2])
DIGEST = bytes.fromhex(sha256_hex(TEXT))


def with_signature(name, summary, signature, text=TEXT):
    refused(f"signature-{name}", "signature_invalid", summary, f"{text}.{base64url(signature)}")


def flipped(index, bit):
    changed = bytearray(SIGNATURE)
    changed[index] ^= bit
    return bytes(changed)


# Another key, another text.
refused("signature-by-stranger", "signature_invalid", "A key of one's own under Apple's key ID.",
        signed(claims(), key="stranger", head=header()))
refused("signature-by-first-key-of-set", "signature_invalid",
        "Services that take the first key of the set accept this.",
        signed(claims(), key="signer-1", head=header("signer-2")))
refused("signature-claims-changed", "signature_invalid",
        "Apple's signature under claims that Apple did not write.",
        compact(header(), claims(sub="000001.someone.else"), SIGNATURE))
refused("signature-header-changed", "signature_invalid", "The header is signed too.",
        compact(header(typ="JWT"), claims(), SIGNATURE))
refused("signature-of-another-token", "signature_invalid", "A good signature in a strange place.",
        f"{TEXT}.{segments(signed(claims(aud='com.example.siwa.web')))[2]}")
with_signature("hmac-under-rs256",
               "An HMAC keyed with the public PEM, with the honest algorithm in the header.",
               hs256(KEY.public_pem(), TEXT))

# The bytes of the signature.
with_signature("last-bit-off", "One bit of 2048.", flipped(255, 1))
with_signature("first-bit-off", "One bit of 2048.", flipped(0, 0x80))
with_signature("truncated", "One byte short.", SIGNATURE[:-1])
with_signature("zero-in-front", "The same number, one byte longer.", b"\0" + SIGNATURE)
with_signature("zero-at-end", "One byte longer.", SIGNATURE + b"\0")
with_signature("junk-in-front", "Some libraries skip junk bytes in front.", b"\x30\x82\x01" + SIGNATURE)
with_signature("junk-at-end", "Some libraries read as many bytes as they need.", SIGNATURE + b"junk")
with_signature("twice", "Two signatures in a row.", SIGNATURE + SIGNATURE)
with_signature("one-byte", "Nearly empty.", b"\0")
with_signature("all-zero", "Zero to any power is zero.", bytes(256))
with_signature("one", "One to any power is one.", (1).to_bytes(256, "big"))
with_signature("all-ones", "A number beyond the modulus.", b"\xff" * 256)
with_signature("modulus", "The modulus itself, which is zero.", KEY.n.to_bytes(256, "big"))
with_signature("modulus-minus-one", "Minus one to any odd power is minus one.",
               (KEY.n - 1).to_bytes(256, "big"))

# Two honest tokens were searched for, because of a property that few signatures have.
BEYOND = signed(claims(filler="0"))
number = int.from_bytes(base64url_decode(segments(BEYOND)[2]), "big") + KEY.n
assert number < 2**2048
with_signature("beyond-modulus", "Signature plus modulus: right but for the range check (RFC 8017 §5.2.2).",
               number.to_bytes(256, "big"), text=BEYOND.rpartition(".")[0])
SHORT = signed(claims(filler="185"))
stripped = base64url_decode(segments(SHORT)[2])
assert stripped[0] == 0
with_signature("own-zero-stripped", "An honest signature that begins with a zero byte, without it.",
               stripped[1:],
               text=SHORT.rpartition(".")[0])

# Padding: blocks that a strict reader accepts from Apple only, and a lenient one from an attacker too.
GARBAGE = b"\x5a" * 120
SHA1_INFO = bytes.fromhex("3021300906052b0e03021a05000414")
SHA512_INFO = bytes.fromhex("3051300d060960864801650304020305000440")
for name, block, summary in [
    ("garbage-behind-digest", digest_block(KEY, SHA256_INFO + DIGEST + GARBAGE),
     "The forgery of 2006: bytes behind the digest are not looked at."),
    ("short-run-garbage-behind-digest", digest_block(KEY, SHA256_INFO + DIGEST, padding=b"\xff" * 8),
     "The same with the shortest run of FF and zeros behind."),
    ("empty-run", digest_block(KEY, SHA256_INFO + DIGEST, padding=b""), "No run of FF at all."),
    ("run-not-ff", digest_block(KEY, SHA256_INFO + DIGEST, padding=b"\xfe" * (253 - 51)),
     "The run is not looked at."),
    ("block-type-2", b"\0\x02" + digest_block(KEY, SHA256_INFO + DIGEST)[2:], "The padding of encryption."),
    ("block-type-0", b"\0\0" + digest_block(KEY, SHA256_INFO + DIGEST)[2:], "Block type 0 is not RS256."),
    ("first-byte-not-zero", b"\x01" + digest_block(KEY, SHA256_INFO + DIGEST)[1:],
     "The block must begin with zero."),
    ("bare-digest", digest_block(KEY, DIGEST), "No digest info: any algorithm could be meant."),
    ("sha-1-info", digest_block(KEY, SHA1_INFO + DIGEST[:20]), "A SHA-256 digest cut down, called SHA-1."),
    ("sha-512-info", digest_block(KEY, SHA512_INFO + DIGEST + DIGEST),
     "A SHA-256 digest twice, called SHA-512."),
    ("info-without-null",
     digest_block(KEY, bytes.fromhex("302f300b0609608648016503040201" + "0420") + DIGEST),
     "The parameters left out: one signature must have one form."),
    ("info-in-ber", digest_block(KEY, bytes.fromhex("308131300d060960864801650304020105000420") + DIGEST),
     "A length written in the long form (BER)."),
    ("info-with-parameters", digest_block(
        KEY,
        bytes.fromhex("3039301506096086480165030402010408") + b"anything" + bytes.fromhex("0420") + DIGEST),
     "Parameters that are not checked leave space to forge."),
]:
    with_signature(f"padding-{name}", summary, KEY.sign_block(block))
for digest in ("sha1", "sha512"):
    with_signature(f"by-{digest}", "RSA with another digest under an RS256 header.", KEY.sign(TEXT, digest))
with_signature("pss", "RSASSA-PSS under an RS256 header.", KEY.sign_pss(TEXT))
