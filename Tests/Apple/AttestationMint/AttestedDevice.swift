import Cryptography
import Encodings

/// A device of a test with one key, as an app uses it: all values are the texts that go over the wire.
public struct AttestedDevice: Sendable {
    public let mint: AttestationMint
    public let key: MintedKey

    public init(_ mint: AttestationMint) throws {
        self.mint = mint
        key = try MintedKey()
    }

    public var keyID: String { Base64.encode(SHA256Digest.hash(key.point).bytes) }

    /// The attestation object for a challenge, in base64.
    public func attestation(
        for challenge: String, _ change: (inout AttestationParts) -> Void = { _ in }
    ) throws -> String {
        var parts = AttestationParts(key: key)
        parts.clientData = Array(challenge.utf8)
        change(&parts)
        return Base64.encode(try mint.attestation(parts))
    }

    /// The client data that vouches for a text.
    public static func clientData(_ challenge: String, for text: String) -> String {
        #"{"challenge":"\#(challenge)","sha256":"\#(Base64URL.encode(SHA256Digest.hash(text).bytes))"}"#
    }

    /// The assertion of client data, in base64.
    public func assertion(
        of clientData: String, counter: UInt32, _ change: (inout AssertionParts) -> Void = { _ in }
    ) throws -> String {
        var parts = AssertionParts(key: key)
        parts.clientData = Array(clientData.utf8)
        parts.counter = counter
        change(&parts)
        return Base64.encode(try parts.assertion())
    }
}
