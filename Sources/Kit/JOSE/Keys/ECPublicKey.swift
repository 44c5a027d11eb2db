import COpenSSL
import Cryptography
import Encodings
public import StrictJSON

/// A P-256 public key that may verify ES256 signatures. It is parsed once.
///
/// Only points on the curve become keys, because OpenSSL checks each point when it decodes a key. Apple signs
/// its tokens with RSA, so this type is only for client secrets and App Attest keys.
public final class ECPublicKey: @unchecked Sendable {
    // `@unchecked`: the handle never changes after `init`, and OpenSSL allows any number of threads to verify
    // with one EVP_PKEY.
    private let handle: PublicKeyHandle

    /// The two coordinates of the point, each 32 bytes, big-endian.
    public let x: [UInt8]
    public let y: [UInt8]

    /// Creates a key from coordinates. Throws `.keyUnusable` if they have another length or the point is not
    /// on P-256.
    public init(x: [UInt8], y: [UInt8]) throws(JOSEError) {
        guard x.count == Self.coordinateSize, y.count == Self.coordinateSize else {
            throw JOSEError(.keyUnusable, detail: "a P-256 coordinate has 32 bytes")
        }
        guard let pointer = EVP_PKEY_new() else { throw JOSEError(.keyUnusable, detail: "no memory") }
        handle = PublicKeyHandle(owning: pointer)
        (self.x, self.y) = (x, y)
        let point: [UInt8] = [4] + x + y
        guard EVP_PKEY_copy_parameters(pointer, Self.curve) == 1,
            EVP_PKEY_set1_encoded_public_key(pointer, point, point.count) == 1
        else {
            ERR_clear_error()
            throw JOSEError(.keyUnusable, detail: "not a point on P-256")
        }
    }

    /// Parses a PEM public key (SubjectPublicKeyInfo). Throws `.keyUnusable` unless the key is on P-256.
    public convenience init(pem: String) throws(JOSEError) {
        let (x, y) = try PEMText.withPublicKey(in: pem) { key throws(JOSEError) in
            try Self.coordinates(of: key)
        }
        try self.init(x: x, y: y)
    }

    /// Parses an uncompressed point (X9.62): a byte of value 4, then both coordinates. Throws `.keyUnusable`
    /// for any other bytes.
    public convenience init(point: [UInt8]) throws(JOSEError) {
        guard point.count == 1 + 2 * Self.coordinateSize, point[0] == 4 else {
            throw JOSEError(.keyUnusable, detail: "not an uncompressed point of P-256")
        }
        try self.init(
            x: Array(point[1...Self.coordinateSize]), y: Array(point[(1 + Self.coordinateSize)...]))
    }

    /// The key as an uncompressed point (X9.62) of 65 bytes.
    public var point: [UInt8] { [4] + x + y }

    /// Reads the public part of `key`, which the caller still owns.
    package convenience init(_ key: OpaquePointer) throws(JOSEError) {
        let (x, y) = try Self.coordinates(of: key)
        try self.init(x: x, y: y)
    }

    private static func coordinates(of key: OpaquePointer) throws(JOSEError) -> (x: [UInt8], y: [UInt8]) {
        var size = 0
        var point = [UInt8](repeating: 0, count: 1 + 2 * coordinateSize)
        var group = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_group_name(key, &group, group.count, &size) == 1,
            group.prefix(size).elementsEqual(groupName.utf8.map { CChar(bitPattern: $0) }),
            EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, &point, point.count, &size) == 1,
            size == point.count, point[0] == 4
        else {
            ERR_clear_error()
            throw JOSEError(.keyUnusable, detail: "not a key on P-256")
        }
        return (Array(point[1...coordinateSize]), Array(point[(1 + coordinateSize)...]))
    }

    /// Verifies an ECDSA signature with SHA-256. The signature must have the raw form, with r and s of 32
    /// bytes each (RFC 7518 §3.4). Returns false for anything else, including the DER signatures that
    /// libraries without JOSE support produce.
    public func isValidSignature(_ signature: [UInt8], for message: ArraySlice<UInt8>) -> Bool {
        guard signature.count == 2 * Self.coordinateSize else { return false }
        return isValidDERSignature(Self.derSignature(signature), for: message)
    }

    /// Verifies an ECDSA signature with SHA-256. The signature must have the form that OpenSSL and Apple's
    /// devices use: a DER `SEQUENCE { INTEGER r, INTEGER s }` (RFC 3279 §2.2.3). Otherwise returns false.
    public func isValidDERSignature(_ encoded: [UInt8], for message: ArraySlice<UInt8>) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        let isValid = message.withUnsafeBufferPointer { message in
            EVP_DigestVerifyInit(context, nil, SHA256Digest.algorithm, nil, handle.pointer) == 1
                && EVP_DigestVerify(context, encoded, encoded.count, message.baseAddress, message.count) == 1
        }
        // A refused signature leaves entries in the thread's error queue that no other code would remove.
        if !isValid { ERR_clear_error() }
        return isValid
    }

    /// Returns the key as a JSON Web Key (RFC 7518 §6.2.1).
    public func jwk(keyID: String) -> JSONObject {
        JSONObject([
            ("kty", .string("EC")), ("kid", .string(keyID)), ("use", .string("sig")),
            ("alg", .string("ES256")), ("crv", .string("P-256")),
            ("x", .string(Base64URL.encode(x))), ("y", .string(Base64URL.encode(y))),
        ])
    }

    /// Returns the signature as `SEQUENCE { INTEGER r, INTEGER s }` (RFC 3279 §2.2.3), OpenSSL's format.
    private static func derSignature(_ raw: [UInt8]) -> [UInt8] {
        let numbers = derInteger(raw.prefix(coordinateSize)) + derInteger(raw.suffix(coordinateSize))
        return [0x30, UInt8(numbers.count)] + numbers
    }

    /// Returns the shortest DER form of an integer. It has no leading zeros, except for a zero byte before a
    /// set top bit, which would otherwise mean a negative number.
    private static func derInteger(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var number = Array(bytes.drop { $0 == 0 })
        if number.first.map({ $0 & 0x80 != 0 }) ?? true { number.insert(0, at: 0) }
        return [0x02, UInt8(number.count)] + number
    }

    private static let coordinateSize = 32
    private static let groupName = "prime256v1"

    /// A template key that carries the curve, because copying it takes a twentieth of the time that OpenSSL 3
    /// needs to decode a key. It never changes, so any number of threads can copy it.
    private nonisolated(unsafe) static let curve: OpaquePointer? =
        subjectPublicKeyInfo.withUnsafeBufferPointer {
            var position = $0.baseAddress
            return d2i_PUBKEY(nil, &position, $0.count)
        }

    /// The P-256 base point as a public key (RFC 5480 §2.1.1, §2.2; FIPS 186-4, D.1.2.3).
    private static let subjectPublicKeyInfo: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86,
        0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
        0x6B, 0x17, 0xD1, 0xF2, 0xE1, 0x2C, 0x42, 0x47, 0xF8, 0xBC, 0xE6, 0xE5, 0x63, 0xA4, 0x40, 0xF2,
        0x77, 0x03, 0x7D, 0x81, 0x2D, 0xEB, 0x33, 0xA0, 0xF4, 0xA1, 0x39, 0x45, 0xD8, 0x98, 0xC2, 0x96,
        0x4F, 0xE3, 0x42, 0xE2, 0xFE, 0x1A, 0x7F, 0x9B, 0x8E, 0xE7, 0xEB, 0x4A, 0x7C, 0x0F, 0x9E, 0x16,
        0x2B, 0xCE, 0x33, 0x57, 0x6B, 0x31, 0x5E, 0xCE, 0xCB, 0xB6, 0x40, 0x68, 0x37, 0xBF, 0x51, 0xF5,
    ]
}

/// A P-256 private key, such as the keys in Apple's files for signing client secrets (`AuthKey_<key ID>.p8`).
public struct ECPrivateKey: Sendable {
    /// The key as PKCS #8 PEM. It is secret, so never print it.
    public let pem: String
    public let publicKey: ECPublicKey

    /// Generates a key. Throws `.keyUnusable` if OpenSSL fails.
    public static func generate() throws(JOSEError) -> ECPrivateKey {
        let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1,
            EVP_PKEY_generate(context, &key) == 1, let key
        else {
            throw JOSEError(.keyUnusable, detail: "generation failed")
        }
        defer { EVP_PKEY_free(key) }
        return try ECPrivateKey(key)
    }

    /// Parses a PEM private key. Throws `.keyUnusable` unless it is a P-256 key.
    public init(pem: String) throws(JOSEError) {
        self = try PEMText.withPrivateKey(in: pem) { key throws(JOSEError) in try ECPrivateKey(key) }
    }

    private init(_ key: OpaquePointer) throws(JOSEError) {
        publicKey = try ECPublicKey(key)
        guard let pem = PEMText.privateKey(key) else { throw JOSEError(.keyUnusable, detail: "no PEM") }
        self.pem = pem
    }
}
