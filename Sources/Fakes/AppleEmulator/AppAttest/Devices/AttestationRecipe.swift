import Cryptography
import Encodings
import StrictJSON

/// The content of an attestation that a fake device makes. The default is an attestation that a service
/// accepts.
public struct AttestationRecipe: Sendable {
    /// Bytes that the app gives to Apple, usually a SHA-256 hash.
    public var clientDataHash: [UInt8]
    /// An existing key, to attest it once more. `nil` makes a key.
    public var keyID: String?
    public var device = "default"
    /// Default: the owner of the bundle ID.
    public var teamID: String?
    /// Default: the primary client ID of the first app.
    public var bundleID: String?
    /// As builds that run from Xcode.
    public var environment = AttestEnvironment.development
    public var platform = AttestPlatform.iOS
    /// `nil` for a system before iOS 27, which sends none.
    public var extensions: DeviceExtensions? = DeviceExtensions()
    public var faults: Set<AttestationFault> = []

    public init(clientDataHash: [UInt8]) { self.clientDataHash = clientDataHash }
}

/// The content of an assertion that a fake device makes. The default is an assertion that a service accepts.
public struct AssertionRecipe: Sendable {
    public var keyID: String
    public var clientDataHash: [UInt8]
    /// The text of which the hash is, for the response; `nil` when only the hash is known.
    public var clientData: String?
    /// A counter to write. The device's own counter does not change. `nil` counts up.
    public var counter: UInt32?
    /// True for a signature with a large s, false for a small s; `nil` for either. Both are valid.
    public var isHigh: Bool?
    public var extensions: DeviceExtensions? = DeviceExtensions()
    public var faults: Set<AssertionFault> = []

    public init(keyID: String, clientDataHash: [UInt8]) {
        (self.keyID, self.clientDataHash) = (keyID, clientDataHash)
    }

    /// Vouches for a text, such as an identity token, in the form that siwa demands: the client data is a JSON
    /// object with the challenge and the SHA-256 of the text.
    public init(keyID: String, challenge: String, vouchingFor text: String) {
        let data = JSONObject([
            ("challenge", .string(challenge)),
            ("sha256", .string(Base64URL.encode(SHA256Digest.hash(text).bytes))),
        ])
        let bytes = JSONValue.object(data).serialized()
        self.init(keyID: keyID, clientDataHash: SHA256Digest.hash(bytes).bytes)
        clientData = String(decoding: bytes, as: UTF8.self)
    }
}
