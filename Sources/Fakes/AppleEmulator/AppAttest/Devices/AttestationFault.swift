/// An error in an attestation or in its receipt. A service refuses each with a code of its own.
public enum AttestationFault: String, Sendable, CaseIterable {
    // The object.
    case cutOff = "cut_off"
    case trailingBytes = "trailing_bytes"
    case duplicateKeys = "duplicate_keys"
    case indefiniteLength = "indefinite_length"
    case longLength = "long_length"
    case tooLarge = "too_large"
    /// `fmt` is the format of passkeys.
    case format
    // The certificates.
    case malformedCertificate = "malformed_certificate"
    case foreignRoot = "foreign_root"
    case expiredLeaf = "expired_leaf"
    case futureLeaf = "future_leaf"
    /// For another challenge.
    case nonce
    case noNonce = "no_nonce"
    case twoNonces = "two_nonces"
    // The authenticator data.
    /// The response has the ID of another key.
    case keyID = "key_id"
    case authenticatorData = "authenticator_data"
    case appID = "app_id"
    /// The counter is 1.
    case counter
    /// The AAGUID of the other environment.
    case environment
    /// An AAGUID of neither environment.
    case unknownEnvironment = "unknown_environment"
    case credentialID = "credential_id"
    case credentialKey = "credential_key"
    /// A byte that is not a map follows the key.
    case extensions
    /// For apps of macOS: System Integrity Protection is off.
    case keyPolicy = "key_policy"
    case noKeyPolicy = "no_key_policy"
    // The receipt.
    case receiptMalformed = "receipt_malformed"
    case receiptRoot = "receipt_root"
    case receiptSignature = "receipt_signature"
    case receiptAppID = "receipt_app_id"
    case receiptKey = "receipt_key"
    case receiptClientHash = "receipt_client_hash"
    /// A receipt of the other environment.
    case receiptEnvironment = "receipt_environment"
    /// A refreshed receipt.
    case receiptKind = "receipt_kind"
    /// Made 10 minutes ago.
    case receiptAge = "receipt_age"

    /// The form of the object; `nil` when the error is elsewhere.
    var form: ObjectForm? { ObjectForm(rawValue: rawValue) }
}
