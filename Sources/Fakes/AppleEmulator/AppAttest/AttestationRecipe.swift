import Cryptography
import Encodings
import StrictJSON

/// The content of an attestation that a fake device creates. With the default values, a service accepts the
/// attestation.
public struct AttestationRecipe: Sendable {
    /// Bytes that the app passes to Apple, usually a SHA-256 hash.
    public var clientDataHash: [UInt8]
    /// An existing key to attest again; `nil` creates a new key.
    public var keyID: String?
    public var device = "default"
    /// Team ID. Default: the team that owns the bundle ID.
    public var teamID: String?
    /// Bundle ID. Default: the first app's primary client ID.
    public var bundleID: String?
    /// Environment. The default applies to builds that run from Xcode.
    public var environment = AttestEnvironment.development
    public var platform = AttestPlatform.iOS
    /// Extensions; `nil` for a system before iOS 27, which sends none.
    public var extensions: DeviceExtensions? = DeviceExtensions()
    public var faults: Set<AttestationFault> = []

    public init(clientDataHash: [UInt8]) { self.clientDataHash = clientDataHash }
}

/// The content of an assertion that a fake device creates. With the default values, a service accepts the
/// assertion.
public struct AssertionRecipe: Sendable {
    public var keyID: String
    public var clientDataHash: [UInt8]
    /// The text that was hashed, for the response; `nil` if only the hash is known.
    public var clientData: String?
    /// A counter value to write without changing the device's own counter; `nil` increments the device's
    /// counter.
    public var counter: UInt32?
    /// True for a signature with a large s, false for a small s; `nil` for either. Both forms are valid.
    public var isHigh: Bool?
    public var extensions: DeviceExtensions? = DeviceExtensions()
    public var faults: Set<AssertionFault> = []

    public init(keyID: String, clientDataHash: [UInt8]) {
        (self.keyID, self.clientDataHash) = (keyID, clientDataHash)
    }

    /// Creates a recipe for an assertion that vouches for a text, such as an identity token, in siwa's form:
    /// the client data is a JSON object with the challenge and the text's SHA-256.
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

    /// Returns the extensions as devices encode them: the category has 4 bytes, lowest byte first.
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

/// An error in an attestation or its receipt. A service refuses each error with a separate code.
public enum AttestationFault: String, Sendable, CaseIterable {
    // Errors in the object.
    case cutOff = "cut_off"
    case trailingBytes = "trailing_bytes"
    case duplicateKeys = "duplicate_keys"
    case indefiniteLength = "indefinite_length"
    case longLength = "long_length"
    case tooLarge = "too_large"
    /// The `fmt` value is the passkey format.
    case format
    // Errors in the certificates.
    case malformedCertificate = "malformed_certificate"
    case foreignRoot = "foreign_root"
    case expiredLeaf = "expired_leaf"
    case futureLeaf = "future_leaf"
    /// The nonce was computed for another challenge.
    case nonce
    case noNonce = "no_nonce"
    case twoNonces = "two_nonces"
    // Errors in the authenticator data. With `keyID`, the response names another key.
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
    /// System Integrity Protection is off. Only for macOS apps.
    case keyPolicy = "key_policy"
    case noKeyPolicy = "no_key_policy"
    // Errors in the receipt.
    case receiptMalformed = "receipt_malformed"
    case receiptRoot = "receipt_root"
    case receiptSignature = "receipt_signature"
    case receiptAppID = "receipt_app_id"
    case receiptKey = "receipt_key"
    case receiptClientHash = "receipt_client_hash"
    /// The receipt belongs to the other environment.
    case receiptEnvironment = "receipt_environment"
    /// The receipt is of the refreshed kind.
    case receiptKind = "receipt_kind"
    /// The receipt is 10 minutes old.
    case receiptAge = "receipt_age"

    /// The object's encoding; `nil` if the error is elsewhere.
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
    /// One bit of the signature is inverted.
    case signature
    case otherKey = "other_key"
    case authenticatorData = "authenticator_data"
    case appID = "app_id"
    /// The counter repeats the previous assertion's value.
    case counter
    case extensions

    /// The object's encoding; `nil` if the error is elsewhere.
    var form: ObjectForm? { ObjectForm(rawValue: rawValue) }
}
