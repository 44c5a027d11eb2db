"""Key sets: what Apple's key endpoint answers, and what it must never get us to trust."""

from jws import base64_standard, base64url
from keys import ec_jwk, number_bytes, rsa
from cases import KIDS

S1, S2, S3, S4 = (rsa(name) for name in KIDS)
CURRENT = [S1.jwk(KIDS["signer-1"]), S2.jwk(KIDS["signer-2"]), S3.jwk(KIDS["signer-3"])]
GOOD = CURRENT[0]


def only(kid, key, **changes):
    """One entry beside a good one, so that the set is usable and only the entry is in question."""
    return [CURRENT[1], key.jwk(kid, **changes)]


KEY_SETS = {
    "current.json": CURRENT,
    "rotated.json": [CURRENT[2], S4.jwk(KIDS["signer-4"]), CURRENT[1]],
    "one-key.json": [CURRENT[0]],
    "beside-strangers.json": [
        ec_jwk("fxElliptic1"),
        {"kty": "OKP", "kid": "fxOctet001", "crv": "Ed25519", "x": base64url(bytes(32))},
        {"kty": "oct", "kid": "fxSecret01", "k": base64url(b"not a public key")},
        {"kty": "PQ-2031", "kid": "fxFuture01"},
        {"kid": "no type at all"}, {}, rsa("rsa-1024").jwk("fxShort001"), GOOD,
        rsa("stranger").jwk("fxEncrypt1", use="enc"),
    ],
    "without-use-and-alg.json": [S1.jwk(KIDS["signer-1"], use=None, alg=None)],
    "same-key-twice.json": [GOOD, CURRENT[1], GOOD],
    "rsa-and-elliptic-under-one-kid.json": [ec_jwk(KIDS["signer-1"]), GOOD],
    "two-keys-under-one-kid.json": [GOOD, rsa("stranger").jwk(KIDS["signer-1"]), CURRENT[1]],
    "kid-of-64-characters.json": [S1.jwk("k" * 64)],
    "kid-of-65-characters.json": only("k" * 65, S1),
    "kid-empty.json": only("", S1),
    "kid-missing.json": only(None, S1),
    "kid-a-number.json": only(1, S1),
    "kid-with-ascii-k.json": only("fxKelvin01", S1),
    "kid-with-kelvin-sign.json": only("fx\u212aelvin01", S1),
    "kid-decomposed.json": only("fxCafe\u0301001", S1),
    "bits-1024.json": only("fxRSA1024", rsa("rsa-1024")),
    "bits-2047.json": only("fxRSA2047", rsa("rsa-2047")),
    "bits-3072.json": only("fxRSA3072", rsa("rsa-3072")),
    "bits-4096.json": only("fxRSA4096", rsa("rsa-4096")),
    "bits-4104.json": only("fxRSA4104", rsa("rsa-4104")),
    "bits-8192.json": only("fxRSA8192", rsa("rsa-8192")),
    "exponent-1.json": only("fxExponent", S1, e=base64url(b"\x01")),
    "exponent-1-only.json": [S1.jwk(KIDS["signer-1"], e=base64url(b"\x01"))],
    "exponent-3.json": only("fxExponent", rsa("exponent-3")),
    "exponent-huge.json": only("fxExponent", S1, e=base64url(number_bytes(S1.d))),
    "modulus-even.json": only("fxEvenOne1", S1, n=base64url(number_bytes(S1.n - 1))),
    "modulus-in-standard-base64.json": only("fxBase6401", S1,
                                            n=base64_standard(number_bytes(S1.n)).rstrip("=")),
    "modulus-padded.json": only("fxPadded01", S1, n=base64url(number_bytes(S1.n)) + "=="),
    "modulus-a-number.json": only("fxNumber01", S1, n=S1.n % 10**15),
    "modulus-missing.json": only("fxMissing1", S1, n=None),
    "use-enc.json": only("fxUseEnc01", S1, use="enc"),
    "key-ops-verify.json": only("fxKeyOps01", S1, key_ops=["verify"]),
    "key-ops-among-others.json": only("fxKeyOps01", S1, key_ops=["sign", "verify", "future"]),
    "key-ops-sign.json": only("fxKeyOps01", S1, key_ops=["sign"]),
    "key-ops-empty.json": only("fxKeyOps01", S1, key_ops=[]),
    "key-ops-in-capitals.json": only("fxKeyOps01", S1, key_ops=["VERIFY"]),
    "key-ops-a-string.json": only("fxKeyOps01", S1, key_ops="verify"),
    "key-ops-with-a-number.json": only("fxKeyOps01", S1, key_ops=["verify", 1]),
    "key-ops-twice.json": only("fxKeyOps01", S1, key_ops=["verify", "verify"]),
    "alg-rs512.json": only("fxAlgRS512", S1, alg="RS512"),
    "type-elliptic.json": [CURRENT[1], ec_jwk("fxElliptic1")],
    "type-in-lower-case.json": only("fxLower001", S1, kty="rsa"),
}
assert "+" in KEY_SETS["modulus-in-standard-base64.json"][1]["n"]
