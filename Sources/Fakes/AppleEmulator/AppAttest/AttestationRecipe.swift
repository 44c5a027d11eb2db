import Cryptography
import Encodings
import StrictJSON

/// The content of an attestation that a fake device creates. A service accepts an attestation with the
/// default values.
public struct AttestationRecipe: Sendable {
    /// Bytes that the app gives to Apple, usually a SHA-256 hash.
    public var clientDataHash: [UInt8]
    /// An existing key to attest again; `nil` creates a key.
    public var keyID: String?
    public var device = "default"
    /// Team ID. Default: the owner of the bundle ID.
    public var teamID: String?
    /// Bundle ID. Default: the primary client ID of the first app.
    public var bundleID: String?
    /// Environment. The default is the environment of builds that run from Xcode.
    public var environment = AttestEnvironment.development
    public var platform = AttestPlatform.iOS
    /// Extensions; `nil` for a system before iOS 27, which sends none.
    public var extensions: DeviceExtensions? = DeviceExtensions()
    public var faults: Set<AttestationFault> = []

    public init(clientDataHash: [UInt8]) { self.clientDataHash = clientDataHash }
}

/// The content of an assertion that a fake device creates. A service accepts an assertion with the default
/// values.
public struct AssertionRecipe: Sendable {
    public var keyID: String
    public var clientDataHash: [UInt8]
    /// The hashed text, for the response; `nil` if only the hash is known.
    public var clientData: String?
    /// A counter value to write, without a change of the device's own counter; `nil` increments the device's
    /// counter.
    public var counter: UInt32?
    /// True for a signature with a large s, false for a small s; `nil` for either. All are valid.
    public var isHigh: Bool?
    public var extensions: DeviceExtensions? = DeviceExtensions()
    public var faults: Set<AssertionFault> = []

    public init(keyID: String, clientDataHash: [UInt8]) {
        (self.keyID, self.clientDataHash) = (keyID, clientDataHash)
    }

    /// Vouches for a text, such as an identity token, in the form that siwa requires: the client data is a
    /// JSON object with the challenge and the SHA-256 of the text.
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

/// The facts that iOS 27 and macOS 27 add to the authenticator data.
public struct DeviceExtensions: Sendable, Equatable {
    /// Validation category; `nil` for 4 (App Store) in production, and 3 (development) in development.
    public var validationCategory: UInt32?
    /// The app's `CFBundleVersion`.
    public var bundleVersion = "1"

    public init() {}

    /// Returns the extensions as devices encode them: the category has 4 bytes, the lowest first.
    func encoded(in environment: AttestEnvironment) -> [UInt8] {
        let category = validationCategory ?? (environment == .production ? 4 : 3)
        return CBORItem.map([
            (
                .text("apple_validation_category_01"),
                .bytes((0..<4).map { UInt8(truncatingIfNeeded: category >> (8 * UInt32($0))) })
            ),
            (.text("apple_bundle_version_01"), .text(bundleVersion)),
        ]).encoded
    }
}

/// An error in an attestation or in its receipt. A service refuses each error with a separate code.
public enum AttestationFault: String, Sendable, CaseIterable {
    // Errors of the object.
    case cutOff = "cut_off"
    case trailingBytes = "trailing_bytes"
    case duplicateKeys = "duplicate_keys"
    case indefiniteLength = "indefinite_length"
    case longLength = "long_length"
    case tooLarge = "too_large"
    /// The value of `fmt` is the format of passkeys.
    case format
    // Errors of the certificates.
    case malformedCertificate = "malformed_certificate"
    case foreignRoot = "foreign_root"
    case expiredLeaf = "expired_leaf"
    case futureLeaf = "future_leaf"
    /// The nonce belongs to another challenge.
    case nonce
    case noNonce = "no_nonce"
    case twoNonces = "two_nonces"
    // Errors of the authenticator data. The response has the ID of another key.
    case keyID = "key_id"
    case authenticatorData = "authenticator_data"
    case appID = "app_id"
    /// The counter is 1.
    case counter
    /// The AAGUID belongs to the other environment.
    case environment
    /// The AAGUID belongs to neither environment.
    case unknownEnvironment = "unknown_environment"
    case credentialID = "credential_id"
    case credentialKey = "credential_key"
    /// The bytes after the key are not a map.
    case extensions
    /// For apps of macOS: System Integrity Protection is off.
    case keyPolicy = "key_policy"
    case noKeyPolicy = "no_key_policy"
    // Errors of the receipt.
    case receiptMalformed = "receipt_malformed"
    case receiptRoot = "receipt_root"
    case receiptSignature = "receipt_signature"
    case receiptAppID = "receipt_app_id"
    case receiptKey = "receipt_key"
    case receiptClientHash = "receipt_client_hash"
    /// The receipt belongs to the other environment.
    case receiptEnvironment = "receipt_environment"
    /// The receipt is a refreshed receipt.
    case receiptKind = "receipt_kind"
    /// The receipt is 10 minutes old.
    case receiptAge = "receipt_age"

    /// The form of the object; `nil` if the error is in another part.
    var form: ObjectForm? { ObjectForm(rawValue: rawValue) }
}

/// An error in an assertion. A service refuses each error with a separate code.
public enum AssertionFault: String, Sendable, CaseIterable {
    case cutOff = "cut_off"
    case trailingBytes = "trailing_bytes"
    case duplicateKeys = "duplicate_keys"
    case indefiniteLength = "indefinite_length"
    case longLength = "long_length"
    case tooLarge = "too_large"
    /// The signature covers other client data.
    case nonce
    /// A bit of the signature is inverted.
    case signature
    case otherKey = "other_key"
    case authenticatorData = "authenticator_data"
    case appID = "app_id"
    /// The counter repeats the counter of the previous assertion.
    case counter
    case extensions

    /// The form of the object; `nil` if the error is in another part.
    var form: ObjectForm? { ObjectForm(rawValue: rawValue) }
}
