"""The frozen test keys, and signatures made with them by the openssl command line."""

import base64
import functools
import hashlib
import hmac
import pathlib
import subprocess
import tempfile

from jws import base64url, base64url_decode

FOLDER = pathlib.Path(__file__).parent / "keys"

# The DER in front of a SHA-256 digest (RFC 8017 §9.2, note 1).
SHA256_INFO = bytes.fromhex("3031300d060960864801650304020105000420")


def run(*arguments, data=b""):
    return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True).stdout


class RSAKey:
    """One of the frozen private keys (PKCS #1 PEM)."""

    def __init__(self, name):
        self.name = name
        self.path = FOLDER / f"{name}.pem"
        lines = self.path.read_text().splitlines()
        self.n, self.e, self.d, self.p, self.q = integers(base64.b64decode("".join(lines[1:-1])))[1:6]
        self.size = (self.n.bit_length() + 7) // 8

    @functools.lru_cache(maxsize=None)
    def sign(self, text, digest="sha256"):
        """RSASSA-PKCS1-v1_5. There is no randomness in it, so the recipe always gives the same bytes."""
        return run("dgst", f"-{digest}", "-sign", str(self.path), data=text.encode())

    def sign_pss(self, text):
        """RSASSA-PSS with an empty salt, which has no randomness either."""
        options = ["-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:0"]
        return run("dgst", "-sha256", *options, "-sign", str(self.path), data=text.encode())

    def sign_block(self, block):
        """Signs a padded block as it is: for blocks that openssl would never write."""
        assert len(block) == self.size
        number = int.from_bytes(block, "big") % self.n
        # RSASP1 and RSADP are the same function (RFC 8017 §5), and openssl has a length limit for the first.
        options = ["-inkey", str(self.path), "-pkeyopt", "rsa_padding_mode:none"]
        signature = run("pkeyutl", "-decrypt", *options, data=number.to_bytes(self.size, "big"))
        assert pow(int.from_bytes(signature, "big"), self.e, self.n) == number
        return signature

    def public_pem(self):
        return run("rsa", "-in", str(self.path), "-pubout")

    def jwk(self, kid, **changes):
        """An entry of a key set with exactly the members that Apple's have; `None` leaves one out."""
        entry = {
            "kty": "RSA", "kid": kid, "use": "sig", "alg": "RS256",
            "n": base64url(number_bytes(self.n)), "e": base64url(number_bytes(self.e)),
        }
        entry.update(changes)
        return {name: value for name, value in entry.items() if value is not None}


def number_bytes(number):
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def integers(der):
    """The numbers of a PKCS #1 RSAPrivateKey (RFC 8017 §A.1.2)."""

    def length(at):
        if der[at] < 0x80:
            return der[at], at + 1
        count = der[at] & 0x7F
        return int.from_bytes(der[at + 1:at + 1 + count], "big"), at + 1 + count

    assert der[0] == 0x30
    _, at = length(1)
    numbers = []
    while at < len(der):
        assert der[at] == 0x02
        size, at = length(at + 1)
        numbers.append(int.from_bytes(der[at:at + size], "big"))
        at += size
    return numbers


@functools.lru_cache(maxsize=None)
def rsa(name):
    return RSAKey(name)


def ec_jwk(kid):
    der = run("ec", "-in", str(FOLDER / "p256.pem"), "-pubout", "-outform", "DER")
    x, y = der[-64:-32], der[-32:]
    return {"kty": "EC", "kid": kid, "use": "sig", "alg": "ES256", "crv": "P-256", "x": base64url(x),
            "y": base64url(y)}


# The curve P-256 (FIPS 186-4 §D.1.2.3): y² = x³ - 3x + b over the field of this prime.
PRIME = 2**256 - 2**224 + 2**192 + 2**96 - 1
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
BASE = (0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5)


def point_sum(left, right):
    if left is None or right is None:
        return left or right
    (x1, y1), (x2, y2) = left, right
    if x1 == x2 and (y1 + y2) % PRIME == 0:
        return None
    slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, PRIME) if left == right else (y2 - y1) * pow(x2 - x1, -1, PRIME)
    x = (slope * slope - x1 - x2) % PRIME
    return x, (slope * (x1 - x) - y1) % PRIME


def multiple(number, point):
    result = None
    for bit in bin(number)[2:]:
        result = point_sum(result, result)
        result = point_sum(result, point) if bit == "1" else result
    return result


@functools.lru_cache(maxsize=None)
def es256(text):
    """ECDSA with the number of RFC 6979 §3.2 in place of a random one, so that the bytes are always the same."""
    private = run("ec", "-in", str(FOLDER / "p256.pem"), "-outform", "DER")[7:39]
    digest = hashlib.sha256(text.encode()).digest()
    z = int.from_bytes(digest, "big")
    v, k = b"\x01" * 32, bytes(32)
    for separator in (b"\x00", b"\x01"):
        k = hmac.new(k, v + separator + private + (z % ORDER).to_bytes(32, "big"), hashlib.sha256).digest()
        v = hmac.new(k, v, hashlib.sha256).digest()
    v = hmac.new(k, v, hashlib.sha256).digest()
    nonce = int.from_bytes(v, "big")
    assert 0 < nonce < ORDER, "the next number of the sequence would be needed"
    r = multiple(nonce, BASE)[0] % ORDER
    s = pow(nonce, -1, ORDER) * (z + r * int.from_bytes(private, "big")) % ORDER
    return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def hs256(secret, text):
    return hmac.new(secret, text.encode(), hashlib.sha256).digest()


def digest_block(key, info_and_digest, padding=None):
    """An EMSA-PKCS1-v1_5 block (RFC 8017 §9.2) around any digest info; `padding` replaces the run of FF."""
    run_of_ff = b"\xff" * (key.size - 3 - len(info_and_digest)) if padding is None else padding
    block = b"\x00\x01" + run_of_ff + b"\x00" + info_and_digest
    return block + b"\x00" * (key.size - len(block))


def is_valid(text, signature, jwk):
    """Second opinion on a token."""
    n = int.from_bytes(base64url_decode(jwk["n"]), "big")
    e = int.from_bytes(base64url_decode(jwk["e"]), "big")
    return rsa_is_valid(text.encode(), signature, n, e)


def rsa_is_valid(message, signature, n, e):
    """Second opinion without openssl: RSASSA-PKCS1-v1_5 with SHA-256, by the letter of RFC 8017 §8.2.2."""
    size = (n.bit_length() + 7) // 8
    number = int.from_bytes(signature, "big")
    if len(signature) != size or number >= n:
        return False
    expected = SHA256_INFO + hashlib.sha256(message).digest()
    block = b"\x00\x01" + b"\xff" * (size - 3 - len(expected)) + b"\x00" + expected
    return pow(number, e, n).to_bytes(size, "big") == block


def der_integer(data):
    number = int.from_bytes(data, "big")
    content = number.to_bytes(number.bit_length() // 8 + 1, "big")
    return bytes([2, len(content)]) + content


def verifies(text, signature, *public_key_command):
    with tempfile.TemporaryDirectory() as folder:
        public, file = pathlib.Path(folder) / "public.pem", pathlib.Path(folder) / "signature"
        public.write_bytes(run(*public_key_command))
        file.write_bytes(signature)
        command = ["openssl", "dgst", "-sha256", "-verify", str(public), "-signature", str(file)]
        return subprocess.run(command, input=text.encode(), capture_output=True).returncode == 0


def openssl_verifies(name, text, signature):
    return verifies(text, signature, "rsa", "-in", str(FOLDER / f"{name}.pem"), "-pubout")


def ec_verifies(text, signature):
    halves = der_integer(signature[:32]) + der_integer(signature[32:])
    der = b"\x30" + bytes([len(halves)]) + halves
    return verifies(text, der, "ec", "-in", str(FOLDER / "p256.pem"), "-pubout")
