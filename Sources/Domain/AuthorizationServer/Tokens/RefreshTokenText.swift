public import AppleAccounts
public import Cryptography
import Encodings

/// A refresh token (RFC 6749 §1.5), whose text contains the ID of its token family.
///
/// The text is `siwa_rt_` followed by the base64url form of the token family's ID (16 bytes), the family
/// secret (16 bytes), the generation (4 bytes, big-endian) and the token's own secret (32 bytes). The family
/// secret identifies a family's old tokens, so that the store needs no row per rotation. Only digests of the
/// secrets are stored.
public struct RefreshTokenText: Sendable, Hashable {
    public static let familySecretSize = 16
    public static let secretSize = 32
    /// Size of the exchange salt in bytes.
    public static let saltSize = 32
    private static let prefix = "siwa_rt_"
    private static let size = 16 + familySecretSize + 4 + secretSize

    public let text: String
    public let familyID: UniqueID
    public let generation: UInt32
    private let familySecret: [UInt8]

    /// - Parameters:
    ///   - familySecret: 16 bytes from a cryptographic random number generator, shared by the family's
    ///     tokens.
    ///   - secret: 32 bytes from a cryptographic random number generator.
    public init(familyID: UniqueID, familySecret: [UInt8], generation: UInt32, secret: [UInt8]) {
        precondition(
            familySecret.count == Self.familySecretSize && secret.count == Self.secretSize,
            "a refresh token has secrets of 16 and 32 bytes")
        text = Self.prefix + Base64URL.encode(familyID.bytes + familySecret + Self.bytes(generation) + secret)
        (self.familyID, self.generation, self.familySecret) = (familyID, generation, familySecret)
    }

    /// Returns `nil` if the text cannot be one of this service's refresh tokens, so that the database is not
    /// queried for it.
    public init?(parsing text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= 128,
            let bytes = Base64URL.decode(String(text.dropFirst(Self.prefix.count))),
            bytes.count == Self.size, let familyID = UniqueID(bytes: bytes.prefix(16))
        else { return nil }
        self.text = text
        self.familyID = familyID
        familySecret = Array(bytes[16..<32])
        generation = bytes[32..<36].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Returns the token that replaces this token.
    ///
    /// The successor's secret is derived from this token's text and the salt (HKDF with SHA-256, RFC 5869). A
    /// client that repeats the exchange therefore gets the same successor, although neither text is stored.
    /// Without the text, the salt reveals nothing.
    ///
    /// - Parameter salt: 32 bytes from a cryptographic random number generator.
    /// - Returns: `nil` above the largest generation, which a family reaches only after 136 years with one
    ///   rotation per second.
    public func successor(salt: [UInt8]) -> RefreshTokenText? {
        guard generation < .max else { return nil }
        precondition(salt.count == Self.saltSize, "the salt of an exchange has 32 bytes")
        let next = generation + 1
        let secret = HKDFSHA256.deriveKey(
            from: Array(text.utf8), salt: salt,
            info: Array("siwa refresh token".utf8) + familyID.bytes + Self.bytes(next))
        return RefreshTokenText(
            familyID: familyID, familySecret: familySecret, generation: next, secret: secret)
    }

    private static func bytes(_ generation: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: generation >> (24 - 8 * UInt32($0))) }
    }

    public var familySecretDigest: SHA256Digest { SHA256Digest.hash(familySecret) }
    public var digest: SHA256Digest { SHA256Digest.hash(text) }

    /// The SHA-512 of the text's raw 64-byte SHA-512. Notifications to Google identify the token by this
    /// digest (`hash_SHA512_double`).
    public var doubleSHA512: SHA512Digest { .hash(SHA512Digest.hash(Array(text.utf8)).bytes) }

    /// Returns the values to store for a token family's first token.
    public func newToken(forGoogle isGoogle: Bool) -> NewRefreshToken {
        NewRefreshToken(
            familySecretDigest: familySecretDigest, digest: digest,
            doubleSHA512: isGoogle ? doubleSHA512 : nil)
    }
}

extension RefreshTokenText: CustomStringConvertible, CustomReflectable {
    public var description: String { "refresh token" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The digests of the new refresh token in a token family that begins or continues. Only the caller knows the
/// secrets.
public struct NewRefreshToken: Sendable, Hashable {
    public let familySecretDigest: SHA256Digest
    public let digest: SHA256Digest
    public let doubleSHA512: SHA512Digest?

    public init(familySecretDigest: SHA256Digest, digest: SHA256Digest, doubleSHA512: SHA512Digest? = nil) {
        self.familySecretDigest = familySecretDigest
        self.digest = digest
        self.doubleSHA512 = doubleSHA512
    }
}
