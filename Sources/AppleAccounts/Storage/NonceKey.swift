/// The key that authenticates the nonces of this service. Its bytes show in no description.
///
/// With it one can make nonces that the service takes for its own, and nothing else: it seals nothing, signs
/// no token, and is no API key.
public struct NonceKey: Sendable, Hashable {
    public static let size = 32

    public let bytes: [UInt8]

    /// Returns `nil` unless there are 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        self.bytes = bytes
    }
}

extension NonceKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "nonce key" }
    public var debugDescription: String { description }
    /// `dump` and string interpolation of a value with a key in it go through here.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where the key that authenticates nonces is kept: with the accounts, so that all replicas have the same
/// one.
public protocol NonceKeyStore: Sendable {
    /// Keeps the candidate unless a key is kept already, and returns the one that is kept: the same to all
    /// callers.
    ///
    /// - Throws: `StorageError`.
    func nonceKey(offering candidate: NonceKey) async throws -> NonceKey
}
