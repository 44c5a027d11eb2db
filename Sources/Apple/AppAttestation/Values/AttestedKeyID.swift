public import Cryptography
import Encodings

/// The ID of an App Attest key: SHA-256 of the public key as an uncompressed point. Clients send base64.
public struct AttestedKeyID: Sendable, Hashable {
    public let digest: SHA256Digest

    /// Creates the ID of a stored key.
    public init(_ digest: SHA256Digest) {
        self.digest = digest
    }

    /// Standard base64 with padding, as `DCAppAttestService` returns it.
    public var base64: String { Base64.encode(digest.bytes) }

    /// Returns `nil` unless the text is the canonical base64 of 32 bytes.
    public init?(base64 text: String) {
        // The length check comes first, so that long input is never decoded.
        guard text.utf8.count == 44, let bytes = Base64.decode(text), let digest = SHA256Digest(bytes) else {
            return nil
        }
        self.digest = digest
    }

    /// Parses the ID in a URL path: base64url without padding, or base64 as the device returns it. Returns
    /// `nil` for any other text.
    public init?(inPath text: String) {
        if let id = AttestedKeyID(base64: text) {
            self = id
            return
        }
        guard text.utf8.count == 43, let bytes = Base64URL.decode(text), let digest = SHA256Digest(bytes)
        else { return nil }
        self.digest = digest
    }

    /// - Parameter point: The public key as an uncompressed point (X9.62).
    init(ofKey point: [UInt8]) {
        digest = SHA256Digest.hash(point)
    }
}

/// The bytes that an app passed to Apple as `clientDataHash`.
///
/// Nearly all apps pass a SHA-256 hash. Apple requires at least 16 bytes but does not check that they are a
/// hash; the samples in Apple's documentation pass the challenge itself.
public struct ClientDataHash: Sendable, Hashable {
    public let bytes: [UInt8]

    /// Hashes the client data, or the challenge. Pass the same bytes that the app hashes.
    public init(hashing clientData: [UInt8]) {
        bytes = SHA256Digest.hash(clientData).bytes
    }

    /// Uses the bytes without hashing. Returns `nil` for fewer than 16 or more than 64 bytes.
    public init?(bytes: [UInt8]) {
        guard (16...64).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }

    /// Returns an object's nonce: SHA-256 of the authenticator data followed by these bytes.
    func nonce(after authenticatorData: ArraySlice<UInt8>) -> SHA256Digest {
        SHA256Digest.hash(Array(authenticatorData) + bytes)
    }
}
