/// The reason why an attestation or assertion was refused: one code per cause. Match on `code`.
///
/// The raw values never change their meaning.
public typealias AppAttestationError = StepError<AppAttestationErrorCode>

public enum AppAttestationErrorCode: String, StepErrorCode {
    public static let object = "app attestation"

    /// The attestation object is larger than 16 KiB, or the assertion is larger than 4 KiB.
    case objectTooLarge = "object_too_large"
    /// The object is not strict CBOR, or lacks members that Apple always sends.
    case objectMalformed = "object_malformed"
    /// `fmt` is not `apple-appattest`.
    case formatMismatch = "format_mismatch"
    /// An `x5c` entry is not exactly one X.509 certificate in DER.
    case certificateMalformed = "certificate_malformed"
    /// The certificates do not chain to the pinned root.
    case chainUntrusted = "chain_untrusted"
    case certificateExpired = "certificate_expired"
    case certificateNotYetValid = "certificate_not_yet_valid"
    /// The leaf certificate's key is not on P-256.
    case certificateKeyUnusable = "certificate_key_unusable"
    /// The leaf certificate does not have exactly one nonce extension.
    case nonceMissing = "nonce_missing"
    /// The nonce is for other authenticator data or another challenge.
    case nonceMismatch = "nonce_mismatch"
    /// The key ID is not the hash of the attested key.
    case keyIDMismatch = "key_id_mismatch"
    /// The authenticator data is truncated, or its key is not in the form that Apple uses.
    case authenticatorDataMalformed = "authenticator_data_malformed"
    /// Another app created the object.
    case appIDMismatch = "app_id_mismatch"
    /// An attestation's counter is not 0.
    case counterNotZero = "counter_not_zero"
    /// The key is a development key but the policy expects production, or the reverse.
    case environmentMismatch = "environment_mismatch"
    /// The AAGUID belongs to neither environment.
    case environmentUnknown = "environment_unknown"
    /// The credential ID is not the key ID.
    case credentialIDMismatch = "credential_id_mismatch"
    /// The key in the authenticator data is not the leaf certificate's key.
    case credentialKeyMismatch = "credential_key_mismatch"
    /// The bytes after the fixed members are not exactly one map in strict CBOR with text keys.
    case extensionsMalformed = "extensions_malformed"
    /// A Mac's leaf certificate does not have exactly one key policy.
    case keyPolicyMissing = "key_policy_missing"
    /// The key policy does not describe a protected Mac.
    case keyPolicyMismatch = "key_policy_mismatch"
    /// Another key signed the assertion, or it is for other client data.
    case signatureInvalid = "signature_invalid"
    /// An assertion's counter is not above the stored counter, so it is a replay.
    case counterNotIncreased = "counter_not_increased"
}

/// Verification steps in order of execution, which is the order in Apple's documentation.
///
/// The first step that fails determines the error, so all earlier steps have passed, and later steps do not
/// run.
public enum AppAttestationStep: String, Sendable, CaseIterable {
    case size
    case form
    case format
    case certificates
    case chain = "certificate chain"
    case certificateKey = "certificate key"
    case nonce
    case keyID = "key ID"
    case signature
    case authenticatorData = "authenticator data"
    case appID = "app ID"
    case counter
    case environment
    case credentialID = "credential ID"
    case credentialKey = "credential key"
    case extensions
    case keyPolicy = "key policy"

    /// Returns the verification steps for an object of this kind.
    public static func steps(for kind: AppAttestationKind) -> [AppAttestationStep] {
        allCases.filter { step in
            switch step {
            case .size, .form, .authenticatorData, .appID, .counter, .extensions: true
            case .format, .certificates, .chain, .certificateKey, .nonce, .keyID, .environment, .credentialID,
                .credentialKey, .keyPolicy:
                kind == .attestation
            case .signature: kind == .assertion
            }
        }
    }
}

/// Kinds of App Attest objects. A verifier never accepts one kind in place of the other.
public enum AppAttestationKind: String, Sendable, CaseIterable {
    /// Apple's statement about a new key.
    case attestation
    /// A request signature made with an attested key.
    case assertion
}

extension AppAttestationErrorCode {
    /// The step that throws this code.
    public var step: AppAttestationStep {
        switch self {
        case .objectTooLarge: .size
        case .objectMalformed: .form
        case .formatMismatch: .format
        case .certificateMalformed: .certificates
        case .chainUntrusted, .certificateExpired, .certificateNotYetValid: .chain
        case .certificateKeyUnusable: .certificateKey
        case .nonceMissing, .nonceMismatch: .nonce
        case .keyIDMismatch: .keyID
        case .authenticatorDataMalformed: .authenticatorData
        case .appIDMismatch: .appID
        case .counterNotZero, .counterNotIncreased: .counter
        case .environmentMismatch, .environmentUnknown: .environment
        case .credentialIDMismatch: .credentialID
        case .credentialKeyMismatch: .credentialKey
        case .extensionsMalformed: .extensions
        case .keyPolicyMissing, .keyPolicyMismatch: .keyPolicy
        case .signatureInvalid: .signature
        }
    }
}
