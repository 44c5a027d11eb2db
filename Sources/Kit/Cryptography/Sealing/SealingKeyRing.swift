import COpenSSL

/// Seals secrets that are stored or sent through a browser: AES-256-GCM (NIST SP 800-38D), with a separate
/// derived key and a random nonce for each value.
///
/// The first key seals, and all keys open, so a key is rotated by adding a new one in front. Associated data
/// binds a value to its row: a value that was moved to another row cannot be opened there. The length of a
/// value and the name of its key are not hidden.
public struct SealingKeyRing: Sendable {
    public let keys: [SealingKey]
    private let first: SealingKey

    /// Returns `nil` when there is no key, or a name occurs twice.
    public init?(_ keys: [SealingKey]) {
        guard let first = keys.first, Set(keys.map(\.name)).count == keys.count else { return nil }
        self.keys = keys
        self.first = first
    }

    /// Seals a plaintext. The result differs each time, and is 46 bytes longer than the plaintext and the key
    /// name. Plaintext and associated data must have at most a megabyte.
    public func seal(
        _ plaintext: [UInt8], for purpose: SealingPurpose, associatedData: [UInt8]
    ) -> [UInt8] {
        precondition(
            plaintext.count <= Self.longest && associatedData.count <= Self.longest, "too long to seal")
        let salt = SecureRandom.bytes(count: SealedFrame.saltSize)
        let header = SealedFrame.header(keyName: first.name, salt: salt)
        let nonce = SecureRandom.bytes(count: SealedFrame.nonceSize)
        let cipher = SealingCipher(.seal, key: first.derived(for: purpose, salt: salt), nonce: nonce)
        cipher.authenticate(header)
        cipher.authenticate(associatedData)
        let ciphertext = cipher.transform(plaintext)
        return header + nonce + ciphertext + cipher.tag()
    }

    /// Opens a sealed value. Never returns any part of a changed value.
    ///
    /// - Throws: `SealError`.
    public func open(
        _ sealed: [UInt8], for purpose: SealingPurpose, associatedData: [UInt8]
    ) throws(SealError) -> [UInt8] {
        guard let frame = SealedFrame(parsing: sealed) else { throw SealError(.malformed) }
        guard let key = keys.first(where: { $0.name == frame.keyName }) else { throw SealError(.unknownKey) }
        guard associatedData.count <= Self.longest else { throw SealError(.authenticationFailed) }
        let cipher = SealingCipher(
            .open, key: key.derived(for: purpose, salt: Array(frame.salt)), nonce: Array(frame.nonce))
        cipher.authenticate(Array(frame.header))
        cipher.authenticate(associatedData)
        let plaintext = cipher.transform(Array(frame.ciphertext))
        guard cipher.verify(tag: Array(frame.tag)) else {
            ERR_clear_error()
            throw SealError(.authenticationFailed)
        }
        return plaintext
    }

    /// Returns true if the first key has sealed a value, false also for bytes that are not a sealed value. Does not open
    /// the value.
    public func isCurrent(_ sealed: [UInt8]) -> Bool { SealedFrame(parsing: sealed)?.keyName == first.name }

    /// The key name in a sealed value. It is untrusted until the value has been opened.
    public static func keyName(of sealed: [UInt8]) -> String? {
        SealedFrame(parsing: sealed)?.keyName
    }

    private static let longest = 1 << 20
}

/// The cause for which a sealed value could not be opened. Match on `code`.
public struct SealError: Error, Sendable, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        /// Too short, of an unknown version, or without a key name.
        case malformed
        /// Sealed by a key that is not in the ring.
        case unknownKey = "unknown_key"
        /// Changed, sealed for another purpose or row, or sealed by another key with the same name. These
        /// cases cannot be distinguished.
        case authenticationFailed = "authentication_failed"
    }

    public let code: Code

    public init(_ code: Code) {
        self.code = code
    }
}

extension SealError: CustomStringConvertible {
    public var description: String { "sealed value refused: \(code.rawValue)" }
}
