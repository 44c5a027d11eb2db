"""RSASSA-PKCS1-v1_5 signatures, right and forged: the classes of Wycheproof's tests, with keys of our own.

Each document is one class of forgery under one key. Wycheproof's name of the class is its member `class`.
"""

import hashlib

from keys import number_bytes, rsa, rsa_is_valid
from rsa_encodings import (
    BER, ELEMENTS, HASHES, INVALID, MODIFIED, OIDS, PARAMETERS, digest_info, hashed, tlv,
)

SIGNATURES = {}
MESSAGE = b"123400"
DIGEST = hashlib.sha256(MESSAGE).digest()
HONEST = digest_info(DIGEST)
assert HONEST.hex().startswith("3031300d060960864801650304020105000420")

# Keys of other sizes, and keys whose numbers are edge cases of arithmetic in words.
OTHER_KEYS = [
    "rsa-2049", "rsa-3072", "rsa-4096", "modulus-of-ones", "modulus-barely-2048", "modulus-ends-in-one",
    "modulus-ends-in-minus-one",
]
# What `searched` found. To search again at each run would take half a minute.
ZERO = {
    "signer-1": 17, "rsa-2049": 0, "rsa-3072": 88, "rsa-4096": 173, "modulus-of-ones": 606,
    "modulus-barely-2048": 84, "modulus-ends-in-one": 21, "modulus-ends-in-minus-one": 160,
}
NEAR = {
    "signer-1": 177, "rsa-2049": 64, "rsa-3072": 19, "rsa-4096": 10, "modulus-of-ones": 22,
    "modulus-barely-2048": 18, "modulus-ends-in-one": 23, "modulus-ends-in-minus-one": 78,
}


def padded(key, info, first=b"\0\x01", separator=b"\0", run=None):
    """`info` at the end of a block of the modulus' size; `run` stands in place of the bytes FF."""
    if run is None:
        run = b"\xff" * (key.size - len(first) - len(separator) - len(info))
    return first + run + separator + info


class Document:
    """One class of signatures under one key."""

    def __init__(self, name, wycheproof, summary, key):
        assert name not in SIGNATURES
        self.key, self.seen, self.cases = key, set(), []
        SIGNATURES[name] = {
            "class": wycheproof, "summary": summary,
            "key": {
                "bits": key.n.bit_length(), "n": number_bytes(key.n).hex(), "e": number_bytes(key.e).hex(),
            },
            "cases": self.cases,
        }

    def put(self, name, signature, message=MESSAGE, verdict="refused"):
        if (signature, message) in self.seen:
            return
        self.seen.add((signature, message))
        assert all(case["name"] != name for case in self.cases), name
        self.cases.append(
            {"name": name, "message": message.hex(), "signature": signature.hex(), "verdict": verdict})

    def block(self, name, block):
        """Refused: the holder of the private key signed a block that only looks like the right one."""
        if len(block) != self.key.size or int.from_bytes(block, "big") >= self.key.n:
            return
        assert block != padded(self.key, HONEST), name
        self.put(name, self.key.sign_block(block))

    def info(self, name, info):
        if len(info) + 3 <= self.key.size:
            self.block(name, padded(self.key, info))


def number(value, size):
    return value.to_bytes(size, "big")


def honest(key, message):
    return key.sign_block(padded(key, digest_info(hashlib.sha256(message).digest())))


def small(key):
    """A message whose signature begins with a zero byte."""
    message = b"leading zero %d" % ZERO[key.name]
    assert int.from_bytes(honest(key, message), "big").bit_length() <= key.size * 8 - 8, key.name
    return message


def near(key):
    """A message whose signature is a number near the modulus."""
    message = b"near the modulus %d" % NEAR[key.name]
    assert int.from_bytes(honest(key, message), "big") > key.n - (key.n >> 6), key.name
    return message


def accepted(name, wycheproof, summary, key, messages):
    document = Document(name, wycheproof, summary, key)
    for message in messages:
        is_text = 0 < len(message) < 40 and message.decode("latin-1").isprintable()
        label = message.decode("ascii") if is_text else f"{len(message)} bytes"
        document.put(label, honest(key, message), message, "accepted")


def encodings(key, prefix=""):
    for name, wycheproof, changes, summary in [
        ("ber-encoded-padding", "BerEncodedPadding", BER,
         "BER allows several encodings of one value. One of them is right: the digest info is DER."),
        ("invalid-asn-in-padding", "InvalidAsnInPadding", INVALID,
         "A parser that skips what it does not understand leaves room for a forgery."),
        ("modified-padding", "ModifiedPadding", MODIFIED,
         "A digest info that says something else, or has bytes of the forger's choice in it."),
    ]:
        document = Document(prefix + name, wycheproof, summary, key)
        for element in ELEMENTS:
            for label, change in changes:
                try:
                    info = digest_info(DIGEST, element, change)
                except IndexError:
                    # NULL has no bytes to change.
                    continue
                if info != HONEST:
                    document.info(label.format(element), info)
        if wycheproof == "InvalidAsnInPadding":
            for label, oid in OIDS:
                document.info(label, digest_info(DIGEST, oid=oid))
        if wycheproof == "ModifiedPadding":
            for label, parameters in PARAMETERS:
                document.info(label, digest_info(DIGEST, "parameters", lambda tag, content: parameters))
    missing = Document(prefix + "missing-null", "MissingNull",
                       "Old implementations left out the parameters.", key)
    missing.info("parameters are left out", digest_info(DIGEST, "parameters", lambda tag, content: b""))
    missing.info("parameters are empty bytes",
                 digest_info(DIGEST, "parameters", lambda tag, content: b"\0\0"))
    missing.info("algorithm without a sequence",
                 digest_info(DIGEST, "digestAlgorithm", lambda tag, content: content[:-2]))


def hashes(key, prefix=""):
    document = Document(prefix + "wrong-hash", "WrongHash", "Another algorithm, or its digest.", key)
    for name, oid in HASHES:
        oid, other = bytes.fromhex(oid), hashed(name, MESSAGE)
        document.info(f"{name} is named, the digest is of SHA-256", digest_info(DIGEST, oid=oid))
        document.info(f"SHA-256 is named, the digest is of {name}", digest_info(other))
        document.info(f"{name} throughout", digest_info(other, oid=oid))
    document.info("digest of the digest", digest_info(hashlib.sha256(DIGEST).digest()))
    document.info("digest of another message", digest_info(hashlib.sha256(b"123401").digest()))
    document.info("digest of the empty message", digest_info(hashlib.sha256(b"").digest()))
    document.info("digest of zeros", digest_info(bytes(32)))
    document.info("digest in reverse", digest_info(DIGEST[::-1]))
    document.info("digest as hexadecimal digits", digest_info(DIGEST.hex().encode()))
    for size in (0, 1, 16, 20, 31, 33, 48, 64):
        document.info(f"{size} bytes of the digest, again from the start if needed",
                      digest_info((DIGEST * 2)[:size]))
    none = Document(prefix + "no-hash", "NoHash", "Without a digest every message fits.", key)
    none.info("the message in place of the digest", digest_info(MESSAGE))
    none.info("the message alone", MESSAGE)
    none.info("the digest alone", DIGEST)
    none.info("the digest as an octet string alone", tlv(4, DIGEST))
    none.info("MD5 and SHA-1 in a row, as TLS 1.1 signed", hashed("md5", MESSAGE) + hashed("sha1", MESSAGE))
    none.put("the message itself as the signature", MESSAGE)
    none.block("the message in a block of zeros", MESSAGE.rjust(key.size, b"\0"))
    none.block("the digest in a block of zeros", DIGEST.rjust(key.size, b"\0"))
    none.block("the digest info in a block of zeros", HONEST.rjust(key.size, b"\0"))


def paddings(key, prefix=""):
    document = Document(prefix + "invalid-padding", "InvalidPadding",
                        "The bytes in front of the digest info are fixed, all of them.", key)
    size = key.size
    full = size - 3 - len(HONEST)
    right = padded(key, HONEST)

    def changed(at, value):
        return right[:at] + bytes([value]) + right[at + 1:]

    document.block("0002ff...00 and the digest, as for encryption", padded(key, DIGEST, b"\0\x02"))
    document.block("0002ff...00 and the message", padded(key, MESSAGE, b"\0\x02"))
    document.block("0002ff...00 and the digest info", padded(key, HONEST, b"\0\x02"))
    document.block("0002 and bytes that are not zero",
                   padded(key, HONEST, b"\0\x02", run=bytes(1 + at % 255 for at in range(full))))
    document.block("0001ff...ee00", changed(2 + full - 1, 0xEE))
    document.block("0001ee...ff00", changed(2, 0xEE))
    for at in (2 + full // 2, 2 + full // 3, 10, 11):
        for value in (0x00, 0x7F, 0xFE):
            document.block(f"byte {at} of the run is {value:02x}", changed(at, value))
    for at, values in ((0, (0x01, 0x02, 0x40, 0x7F)), (1, (0x00, 0x02, 0x03, 0x11, 0x81, 0xFF))):
        for value in values:
            document.block(f"byte {at} is {value:02x}", changed(at, value))
    for value in (0x01, 0x80, 0xFF):
        document.block(f"separator is {value:02x}", changed(2 + full, value))
    for name, byte in (("00", 0), ("01", 1), ("fe", 0xFE), ("5a", 0x5A)):
        document.block(f"run of {name}", padded(key, HONEST, run=bytes([byte]) * full))
    document.block("0000ff...00, block type 0", padded(key, HONEST, b"\0\0"))
    document.block("empty padding: 000001ff...ff", padded(key, b"", b"\0\0\x01", b""))
    document.block("only the run", padded(key, b"", separator=b""))
    document.block("only the run and the separator", padded(key, b""))
    document.block("no separator", padded(key, HONEST, separator=b""))
    document.block("two separators", padded(key, HONEST, separator=b"\0\0"))
    document.block("a separator in the middle of the run",
                   padded(key, HONEST, run=b"\xff" * 8 + b"\0" + b"\xff" * (full - 9)))
    document.block("a digest info at both ends",
                   padded(key, HONEST, run=b"\xff" * 8 + b"\0" + HONEST + b"\xff" * (full - 9 - len(HONEST))))
    document.block("all zero but the last bit", number(1, size))
    document.block("the digest info in front", HONEST + b"\xff" * (size - len(HONEST)))
    document.block("the block in reverse", right[::-1])
    document.block("the block one byte to the left", right[1:] + b"\0")
    document.block("the block one byte to the right", b"\0" + right[:-1])

    short = Document(prefix + "short-padding", "ShortPadding",
                     "The digest info ends where the block ends, and begins where the run does.", key)
    for count in (0, 1, 7, 8, 9, 64, full - 1):
        free = full - count
        run = b"\xff" * count
        for name, rest in (("zeros", bytes(free)), ("garbage", b"\x5a" * free), ("FF", b"\xff" * free)):
            short.block(f"{count} bytes FF and {name} behind the digest info",
                        padded(key, HONEST + rest, run=run))
            short.block(f"{count} bytes FF and {name} in front of the digest info",
                        padded(key, rest + HONEST, run=run))
        short.block(f"{free} zeros in front of 0001ff...00, {count} bytes FF",
                    bytes(free) + padded(key, HONEST, run=run))
    short.block("000001ff...00", padded(key, HONEST, b"\0\0\x01"))
    short.block("01ff...00 without the leading zero", padded(key, HONEST, b"\x01"))


def malleability(key, prefix=""):
    document = Document(prefix + "signature-malleability", "SignatureMalleability",
                        "The same number written otherwise. One message has one valid signature.", key)
    message = small(key)
    signature = honest(key, message)
    value = int.from_bytes(signature, "big")
    most = (2 ** (key.size * 8) - 1 - value) // key.n
    for multiple in sorted({1, 2, 3, most}):
        if 0 < multiple <= most:
            document.put(f"s + {multiple}n in as many bytes",
                         number(value + multiple * key.n, key.size), message)
    document.put("s + n in one byte more", number(value + key.n, key.size + 1), message)
    document.put("s + 256n in one byte more", number(value + 256 * key.n, key.size + 2), message)
    document.put("n - s", number(key.n - value, key.size), message)
    document.put("leading zero left out", signature[1:], message)
    document.put("all leading zeros left out", signature.lstrip(b"\0"), message)
    right = honest(key, MESSAGE)
    for count in (1, 2, 8, key.size):
        document.put(f"{count} zeros in front", bytes(count) + right)
        document.put(f"{count} zeros behind", right + bytes(count))
    document.put("one byte in front", b"\x01" + right)
    document.put("one byte behind", right + b"\x01")
    document.put("last byte missing", right[:-1])
    document.put("first byte missing", right[1:])
    document.put("in reverse", right[::-1])
    document.put("twice", right + right)
    document.put("as a DER integer", tlv(2, b"\0" + right))
    document.put("as a DER octet string", tlv(4, right))
    document.put("as a DER bit string", tlv(3, b"\0" + right))
    document.put("as hexadecimal digits", right.hex().encode())


def numbers(key, prefix=""):
    document = Document(prefix + "invalid-signature", "InvalidSignature",
                        "Numbers at the edges of what fits, and of arithmetic in words.", key)
    size, most = key.size, 2 ** (key.size * 8)
    document.put("empty", b"")
    document.put("one byte of zero", b"\0")
    for label, value in [
        ("0", 0), ("1", 1), ("2", 2), ("3", 3), ("e", key.e),
        ("n - 2", key.n - 2), ("n - 1", key.n - 1), ("n", key.n),
        ("n + 1", key.n + 1), ("n + 2", key.n + 2), ("(n - 1) / 2", (key.n - 1) // 2),
        ("(n + 1) / 2", (key.n + 1) // 2),
        ("-1", most - 1), ("2n - 1", 2 * key.n - 1), ("2n", 2 * key.n),
        ("the prime p", key.p), ("the prime q", key.q), ("n - p", key.n - key.p),
        ("the private exponent", key.d),
        ("the padded block itself", int.from_bytes(padded(key, HONEST), "big")),
        # The constants of Montgomery's form.
        ("R mod n", most % key.n), ("R squared mod n", most * most % key.n),
        ("n - R mod n", key.n - most % key.n), ("inverse of R", pow(most, -1, key.n)),
    ]:
        if value < most:
            document.put(f"value {label}", number(value, size))
    for bits in (31, 32, 63, 64, 127, 128, 1023, 1024, key.n.bit_length() - 2, key.n.bit_length() - 1):
        document.put(f"value 2**{bits}", number(2**bits, size))
        document.put(f"value 2**{bits} - 1", number(2**bits - 1, size))
    right = int.from_bytes(honest(key, MESSAGE), "big")
    document.put("inverse of the signature", number(pow(right, -1, key.n), size))
    document.put("square of the signature", number(right * right % key.n, size))
    document.put("signature of the signature", number(pow(right, key.d, key.n), size))


def mgf1(seed, count, name):
    blocks = b""
    while len(blocks) < count:
        blocks += hashed(name, seed + number(len(blocks) // hashlib.new(name).digest_size, 4))
    return blocks[:count]


def pss_block(key, salt, name="sha256", mask="sha256"):
    """EMSA-PSS (RFC 8017 §9.1.1)."""
    bits = key.n.bit_length() - 1
    size = (bits + 7) // 8
    digest = hashed(name, bytes(8) + hashed(name, MESSAGE) + salt)
    data = bytes(size - len(salt) - len(digest) - 2) + b"\x01" + salt
    masked = bytes(left ^ right for left, right in zip(data, mgf1(digest, len(data), mask)))
    masked = bytes([masked[0] & 0xFF >> (8 * size - bits)]) + masked[1:]
    return (masked + digest + b"\xbc").rjust(key.size, b"\0")


def primitives(key, prefix=""):
    document = Document(prefix + "wrong-primitive", "WrongPrimitive",
                        "Other schemes of RSA. What one of them signs, another one does not accept.", key)
    most = key.size - 2 - 32 - (1 if key.n.bit_length() % 8 == 1 else 0)
    for size in (0, 20, 32, most):
        salt = bytes(at % 251 for at in range(size))
        document.block(f"RSASSA-PSS with a salt of {size} bytes", pss_block(key, salt))
        document.block(f"RSASSA-PSS with a salt of {size} bytes and MGF1 with SHA-1",
                       pss_block(key, salt, mask="sha1"))
    document.block("RSASSA-PSS with SHA-1 throughout", pss_block(key, bytes(20), "sha1", "sha1"))
    for mask in ("sha256", "sha1"):
        size = key.size - 1
        label = hashed(mask, b"")
        data = label + bytes(size - 2 * len(label) - 1 - len(DIGEST)) + b"\x01" + DIGEST
        seed = bytes(range(len(label)))
        masked = bytes(left ^ right for left, right in zip(data, mgf1(seed, len(data), mask)))
        hidden = bytes(left ^ right for left, right in zip(seed, mgf1(masked, len(seed), mask)))
        document.block(f"OAEP of the digest with {mask}", b"\0" + hidden + masked)
    trailer = DIGEST + b"\x34\xcc"
    document.block("ANSI X9.31", b"\x6b" + b"\xbb" * (key.size - 2 - len(trailer)) + b"\xba" + trailer)
    recoverable = MESSAGE.ljust(key.size - 2 - len(DIGEST), b"\0")
    document.block("ISO/IEC 9796-2", b"\x4a" + recoverable + DIGEST + b"\xbc")


def cube_root(value):
    low, high = 0, 1 << (value.bit_length() // 3 + 1)
    while low < high:
        middle = (low + high) // 2
        if middle**3 < value:
            low = middle + 1
        else:
            high = middle
    return low


def small_keys():
    """A key with e = 3 is refused as a key: then nothing that follows from it is."""
    key = rsa("exponent-3")
    document = Document("small-public-key", "SmallPublicKey",
                        "Cube roots: with e = 3 a forger needs no key where bytes are not looked at.", key)
    document.put("honestly signed, under a key that is not accepted", honest(key, MESSAGE))
    # Bleichenbacher's forgery of 2006: the cube begins with a good block, and ends in garbage.
    for count in (8, 1, 0):
        front = padded(key, HONEST, run=b"\xff" * count)
        start = int.from_bytes(front.ljust(key.size, b"\0"), "big")
        root = cube_root(start)
        assert number(root**3, key.size).startswith(front)
        document.put(f"cube root with {count} bytes FF and garbage behind", number(root, key.size))
    # The other end: the cube ends in the right digest info, and the run is garbage (CVE-2016-1494).
    wanted = int.from_bytes(b"\0" + HONEST, "big") | 1
    bits = (1 + len(HONEST)) * 8
    if HONEST[-1] & 1:
        suffix = 1
        for bit in range(1, bits):
            if (suffix**3 ^ wanted) >> bit & 1:
                suffix |= 1 << bit
        top = cube_root(int.from_bytes(b"\0\x01\xff\xff".ljust(key.size, b"\0"), "big"))
        root = (top >> bits << bits) + (1 << bits) + suffix
        assert number(root**3, key.size).endswith(b"\0" + HONEST)
        assert number(root**3, key.size)[:4] == b"\0\x01\xff\xff"
        document.put("cube root with garbage in the run", number(root, key.size))
    forged = Document("small-public-key-forgeries", "SmallPublicKey",
                      "The same cube roots under a key with e = 65537.", rsa("signer-1"))
    for case in SIGNATURES["small-public-key"]["cases"][1:]:
        forged.put(case["name"], bytes.fromhex(case["signature"]))


def searched(key, start, fits):
    """Finds the number of a message whose signature has a property. For `ZERO` and `NEAR` of a new key."""
    count = 0
    while True:
        message = start + b" %d" % count
        if fits(int.from_bytes(honest(key, message), "big")):
            return count
        count += 1


MESSAGES = [b"", bytes(20), b"Test", MESSAGE, b"a", bytes(range(256)), b"x" * 1000]
APPLE = rsa("signer-1")
accepted("valid", "Valid", "Right signatures.", APPLE, MESSAGES)
accepted("small-signature", "SmallSignature", "A number with a byte less than the modulus.", APPLE,
         [small(APPLE)])
accepted("edge-case-signature", "EdgeCaseSignature", "A number close to the modulus.", APPLE, [near(APPLE)])
for make in (encodings, hashes, paddings, malleability, numbers, primitives):
    make(APPLE)
small_keys()
for other in map(rsa, OTHER_KEYS):
    accepted(f"{other.name}-edge-case-signature", "EdgeCaseSignature",
             "Right signatures under a key whose size or numbers are an edge case of arithmetic.", other,
             [*MESSAGES, small(other), near(other)])
    for make in (malleability, numbers):
        make(other, f"{other.name}-")
    if other.name.startswith("rsa-"):
        for make in (paddings, primitives):
            make(other, f"{other.name}-")
