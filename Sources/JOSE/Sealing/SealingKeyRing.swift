import COpenSSL

/// Seals secrets that are stored: AES-256-GCM (NIST SP 800-38D), each value under a random nonce of its own.
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

    /// A different value each time, 30 bytes longer than the plaintext and the key's name. Both arguments have at most a
    /// megabyte.
    public func seal(_ plaintext: [UInt8], associatedData: [UInt8]) -> [UInt8] {
        precondition(
            plaintext.count <= Self.longest && associatedData.count <= Self.longest, "too long to seal")
        let header = SealedFrame.header(keyName: first.name)
        let nonce = SecureRandom.bytes(count: SealedFrame.nonceSize)
        let cipher = SealingCipher(.seal, key: first, nonce: nonce)
        cipher.authenticate(header)
        cipher.authenticate(associatedData)
        let ciphertext = cipher.transform(plaintext)
        return header + nonce + ciphertext + cipher.tag()
    }

    /// The plaintext. Throws `SealError`; nothing of a value that was changed is ever returned.
    public func open(_ sealed: [UInt8], associatedData: [UInt8]) throws(SealError) -> [UInt8] {
        guard let frame = SealedFrame(parsing: sealed) else { throw SealError(.malformed) }
        guard let key = keys.first(where: { $0.name == frame.keyName }) else { throw SealError(.unknownKey) }
        guard associatedData.count <= Self.longest else { throw SealError(.authenticationFailed) }
        let cipher = SealingCipher(.open, key: key, nonce: Array(frame.nonce))
        cipher.authenticate(Array(frame.header))
        cipher.authenticate(associatedData)
        let plaintext = cipher.transform(Array(frame.ciphertext))
        guard cipher.verify(tag: Array(frame.tag)) else {
            ERR_clear_error()
            throw SealError(.authenticationFailed)
        }
        return plaintext
    }

    /// False for what another key sealed, and for what is no sealed value. Opens nothing.
    public func isSealedByFirst(_ sealed: [UInt8]) -> Bool {
        Self.keyName(of: sealed) == first.name
    }

    /// The name of the key that a value says it was sealed by. Untrusted until the value has been opened.
    public static func keyName(of sealed: [UInt8]) -> String? {
        SealedFrame(parsing: sealed)?.keyName
    }

    private static let longest = 1 << 20
}
