import COpenSSL

/// Seals secrets that are stored or that travel with a browser: AES-256-GCM (NIST SP 800-38D), each value under a key of its
/// own, which is derived for its purpose, and a random nonce.
///
/// The first key seals and all open, so that a key is rotated by putting a new one in front. Associated data binds a
/// value to what it belongs to: a value that was moved to another row does not open there. It does not hide a value's
/// length, nor which key sealed it.
public struct SealingKeyRing: Sendable {
    public let keys: [SealingKey]
    private let first: SealingKey

    /// `nil` when there is no key, or a name occurs twice.
    public init?(_ keys: [SealingKey]) {
        guard let first = keys.first, Set(keys.map(\.name)).count == keys.count else { return nil }
        self.keys = keys
        self.first = first
    }

    /// A different value each time, 46 bytes longer than the plaintext and the key's name. Plaintext and associated data
    /// have at most a megabyte.
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

    /// The plaintext, also of a value that an earlier version sealed with the key itself. Throws `SealError`; nothing of a
    /// value that was changed is ever returned.
    public func open(
        _ sealed: [UInt8], for purpose: SealingPurpose, associatedData: [UInt8]
    ) throws(SealError) -> [UInt8] {
        guard let frame = SealedFrame(parsing: sealed) else { throw SealError(.malformed) }
        guard let key = keys.first(where: { $0.name == frame.keyName }) else { throw SealError(.unknownKey) }
        guard associatedData.count <= Self.longest else { throw SealError(.authenticationFailed) }
        let bytes =
            switch frame.version {
            case .plain: key.bytes
            case .derived: key.derived(for: purpose, salt: Array(frame.salt))
            }
        let cipher = SealingCipher(.open, key: bytes, nonce: Array(frame.nonce))
        cipher.authenticate(Array(frame.header))
        cipher.authenticate(associatedData)
        let plaintext = cipher.transform(Array(frame.ciphertext))
        guard cipher.verify(tag: Array(frame.tag)) else {
            ERR_clear_error()
            throw SealError(.authenticationFailed)
        }
        return plaintext
    }

    /// Whether a value is sealed as `seal` would now: by the first key, in the form of today. False for what is no sealed
    /// value. Opens nothing.
    public func isCurrent(_ sealed: [UInt8]) -> Bool {
        guard let frame = SealedFrame(parsing: sealed) else { return false }
        return frame.version == .derived && frame.keyName == first.name
    }

    /// The name of the key that a value says it was sealed by. Untrusted until the value has been opened.
    public static func keyName(of sealed: [UInt8]) -> String? {
        SealedFrame(parsing: sealed)?.keyName
    }

    private static let longest = 1 << 20
}
