/// The steps of verification, in the order in which they happen, which is the order of Apple's documentation.
///
/// The first step that fails decides the error: all earlier steps have passed, and later steps have not been
/// tried.
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

    /// The steps for an object of this kind.
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

/// The two kinds of object that App Attest makes. Neither is accepted in place of the other.
public enum AppAttestationKind: String, Sendable, CaseIterable {
    /// Apple's statement about a new key.
    case attestation
    /// A signature by an attested key.
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
