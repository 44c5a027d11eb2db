import Cryptography

/// The bytes that an app gave to Apple as `clientDataHash`.
///
/// Nearly all apps give a SHA-256 hash. Apple demands 16 bytes or more, and does not check that they are a
/// hash: the samples in Apple's documentation have the challenge itself.
public struct ClientDataHash: Sendable, Hashable {
    public let bytes: [UInt8]

    /// Hashes the client data, or the challenge, byte for byte as the app hashed it.
    public init(hashing clientData: [UInt8]) {
        bytes = SHA256Digest.hash(clientData).bytes
    }

    /// The bytes without hashing. Returns `nil` for fewer than 16 and more than 64 bytes.
    public init?(bytes: [UInt8]) {
        guard (16...64).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// The nonce of an object: SHA-256 of the authenticator data, and then these bytes.
    func nonce(after authenticatorData: ArraySlice<UInt8>) -> SHA256Digest {
        SHA256Digest.hash(Array(authenticatorData) + bytes)
    }
}
