/// The key that authenticates this service's nonces. Its descriptions never show the bytes.
///
/// A holder of the key can only mint nonces that the service accepts, because the key seals nothing, signs no
/// tokens, and is not an API key.
public struct NonceKey: Sendable, Hashable {
    public static let size = 32

    public let bytes: [UInt8]

    /// Returns `nil` unless there are exactly 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }
}

extension NonceKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "nonce key" }
    public var debugDescription: String { description }
    /// Shows no bytes. `dump` and string interpolation use this mirror, also for values that contain a key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Stores the nonce authentication key next to the accounts, so that all replicas have the same key.
public protocol NonceKeyStore: Sendable {
    /// Stores the candidate unless a key is already stored, and
    /// returns the stored key, which is the same for all callers.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    func nonceKey(offering candidate: NonceKey) async throws -> NonceKey
}
