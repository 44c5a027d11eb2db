"""Encodings of a digest info (RFC 8017 §9.2) that a lenient parser would read like the right one.

Every change is made to one element; the lengths of the elements around it are right again afterwards.
"""

import hashlib

# The elements from the outside to the inside, as RFC 8017 §A.2.4 names them.
ELEMENTS = ["digestInfo", "digestAlgorithm", "algorithm", "parameters", "digest"]
SHA256_OID = bytes.fromhex("608648016503040201")
NULL = b"\x05\x00"
GARBAGE = b"\x02\x03\x01\x00\x5a"


def der_length(count):
    if count < 0x80:
        return bytes([count])
    data = count.to_bytes((count.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(data)]) + data


def tlv(tag, content):
    return bytes([tag]) + der_length(len(content)) + content


def with_length(length):
    """The length is written as these bytes, also where the content has another length."""
    return lambda tag, content: bytes([tag]) + length + content


def long_length(size, more=0):
    """A length in `size` bytes, too large by `more`."""
    return lambda tag, content: (
        bytes([tag, 0x80 | size]) + (len(content) + more).to_bytes(size, "big") + content)


def with_content(change):
    return lambda tag, content: tlv(tag, change(content))


def with_tag(change):
    return lambda tag, content: tlv(change(tag), content)


def digest_info(digest, element=None, change=None, oid=SHA256_OID):
    def encoded(name, tag, content):
        return change(tag, content) if name == element else tlv(tag, content)

    algorithm = encoded("algorithm", 6, oid) + encoded("parameters", 5, b"")
    return encoded(
        "digestInfo", 0x30,
        encoded("digestAlgorithm", 0x30, algorithm) + encoded("digest", 4, digest))


# BER, which allows more than one encoding (X.690 §8.1.3, §8.1.4): the value is the right one.
BER = [
    ("long form of the length of {}", long_length(1)),
    ("length of {} with a leading zero", long_length(2)),
    ("length of {} with seven leading zeros", long_length(8)),
    ("indefinite length of {}",
     lambda tag, content: bytes([tag | 0x20, 0x80]) + content + b"\0\0"),
    ("composition of {}", lambda tag, content: tlv(tag | 0x20, tlv(tag, content))),
    ("composition of {} with indefinite length",
     lambda tag, content: bytes([tag | 0x20, 0x80]) + tlv(tag, content) + b"\0\0"),
    ("composition of {} in two parts",
     lambda tag, content: tlv(tag | 0x20, tlv(tag, content[:4]) + tlv(tag, content[4:]))),
    ("long form of the tag of {}",
     lambda tag, content: bytes([tag & 0xE0 | 0x1F, tag & 0x1F]) + der_length(len(content)) + content),
]

# What is no encoding at all, or leaves room for bytes of the forger's choice.
INVALID = [
    ("length of {} one too large", long_length(1, more=1)),
    ("short length of {} one too large",
     lambda tag, content: bytes([tag, len(content) + 1]) + content),
    ("short length of {} one too small",
     lambda tag, content: bytes([tag, max(len(content) - 1, 0)]) + content),
    ("length of {} overflows 32 bits", long_length(5, more=2**32)),
    ("length of {} overflows 64 bits", long_length(9, more=2**64)),
    ("length of {} is 2**31 - 1", with_length(der_length(2**31 - 1))),
    ("length of {} is 2**32 - 1", with_length(der_length(2**32 - 1))),
    ("length of {} is 2**40 - 1", with_length(der_length(2**40 - 1))),
    ("length of {} is 2**64 - 1", with_length(der_length(2**64 - 1))),
    ("length of {} is 255", with_length(b"\xff")),
    ("length of {} is cut short", with_length(b"\x82\x00")),
    ("indefinite length of {} without an end",
     lambda tag, content: bytes([tag | 0x20, 0x80]) + content),
    ("indefinite length of {} in a primitive encoding",
     lambda tag, content: bytes([tag & ~0x20, 0x80]) + content + b"\0\0"),
    ("{} is a lonely tag", lambda tag, content: bytes([tag])),
    ("garbage in front of the content of {}", with_content(lambda content: GARBAGE + content)),
    ("garbage in front of {}", lambda tag, content: GARBAGE + tlv(tag, content)),
    ("unknown tag in front of {}", lambda tag, content: b"\xaa\x00\xbb\x00" + tlv(tag, content)),
    ("unknown tag in {}", with_content(lambda content: b"\xaa\x02\xab\xcd" + content)),
    ("composition of {} with a wrong tag", lambda tag, content: tlv(tag | 0x20, tlv(1, content))),
    ("end of contents in {}", with_content(lambda content: b"\0\0" + content)),
]

# Well-formed encodings of something else.
MODIFIED = [
    ("{} is left out", lambda tag, content: b""),
    ("zeros behind the content of {}", with_content(lambda content: content + b"\0\0")),
    ("zeros in front of the content of {}", with_content(lambda content: b"\0\0" + content)),
    ("NULL behind the content of {}", with_content(lambda content: content + NULL)),
    ("NULL behind {}", lambda tag, content: tlv(tag, content) + NULL),
    ("garbage behind the content of {}", with_content(lambda content: content + GARBAGE)),
    ("garbage behind {}", lambda tag, content: tlv(tag, content) + GARBAGE),
    ("{} is NULL", lambda tag, content: NULL),
    ("{} twice", lambda tag, content: tlv(tag, content) * 2),
    ("{} without content", with_content(lambda content: b"")),
    ("first byte of {} changed", with_content(lambda content: bytes([content[0] ^ 1]) + content[1:])),
    ("last byte of {} changed", with_content(lambda content: content[:-1] + bytes([content[-1] ^ 1]))),
    ("first bit of {} changed", with_content(lambda content: bytes([content[0] ^ 0x80]) + content[1:])),
    ("first byte of {} missing", with_content(lambda content: content[1:])),
    ("last byte of {} missing", with_content(lambda content: content[:-1])),
    ("tag of {} is the next number", with_tag(lambda tag: tag + 1)),
    ("tag of {} is the number before", with_tag(lambda tag: tag - 1)),
    ("tag of {} of another form", with_tag(lambda tag: tag ^ 0x20)),
    ("tag of {} of the context", with_tag(lambda tag: tag | 0x80)),
    ("tag of {} of the application", with_tag(lambda tag: tag | 0x40)),
    ("tag of {} is private", with_tag(lambda tag: tag | 0xC0)),
    ("tag of {} is 0", with_tag(lambda tag: 0)),
    ("tag of {} is 255", with_tag(lambda tag: 0xFF)),
    ("{} is an empty sequence", lambda tag, content: tlv(0x30, b"")),
    ("{} in a sequence", lambda tag, content: tlv(0x30, tlv(tag, content))),
    ("{} is a string of its encoding", lambda tag, content: tlv(4, tlv(tag, content))),
]

# An object identifier has one encoding too (X.690 §8.19.2).
OIDS = [
    ("algorithm with a leading zero in its second number", bytes.fromhex("60800648016503040201")),
    ("algorithm with a leading zero in its last number", bytes.fromhex("60864801650304028001")),
    ("algorithm with a last number of 2**32 + 1", bytes.fromhex("608648016503040290808080" + "01")),
    ("algorithm with one more number", SHA256_OID + b"\x01"),
    ("algorithm with one more zero", SHA256_OID + b"\x00"),
    ("algorithm that never ends", SHA256_OID[:-1] + b"\x81"),
    ("algorithm is SHA-256 with RSA", bytes.fromhex("2a864886f70d01010b")),
    ("algorithm is RSA", bytes.fromhex("2a864886f70d010101")),
    ("algorithm is AES-128 in ECB", bytes.fromhex("608648016503040101")),
]

# The parameters are NULL (RFC 8017 §A.2.4), and nothing else.
PARAMETERS = [
    ("parameters are an integer", tlv(2, b"\x00")),
    ("parameters are a string of 8 bytes", tlv(4, b"anything")),
    ("parameters are a boolean", tlv(1, b"\xff")),
    ("parameters are an empty set", tlv(0x31, b"")),
    ("parameters are a NULL of one byte", b"\x05\x01\x00"),
    ("parameters are the algorithm again", tlv(6, SHA256_OID)),
    ("parameters fill the block", tlv(4, b"\x5a" * 190)),
]

# Algorithms of NIST and before, with their object identifiers.
HASHES = [
    ("md5", "2a864886f70d0205"), ("sha1", "2b0e03021a"), ("sha224", "608648016503040204"),
    ("sha384", "608648016503040202"), ("sha512", "608648016503040203"),
    ("sha512_224", "608648016503040205"), ("sha512_256", "608648016503040206"),
    ("sha3_224", "608648016503040207"), ("sha3_256", "608648016503040208"),
    ("sha3_384", "608648016503040209"), ("sha3_512", "60864801650304020a"),
]


def hashed(name, message):
    return hashlib.new(name, message).digest()
