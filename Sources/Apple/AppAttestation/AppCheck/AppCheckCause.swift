/// Cause for which a proof does not hold, or is missing, as apps and logs see it.
public struct AppCheckCause: Sendable, Hashable {
    /// A stable code in lower case, such as `counter_not_increased`. It repeats nothing of the request.
    public let code: String
    /// True if the app can go on with a new key that it attests. False if a new key changes nothing: the app
    /// makes a new assertion with its key, or its code has a fault.
    public let canReAttest: Bool

    public init(code: String, canReAttest: Bool) {
        (self.code, self.canReAttest) = (code, canReAttest)
    }

    /// The request has no proof.
    public static let proofMissing = AppCheckCause(code: "proof_missing", canReAttest: false)
    /// The request has no proof, and its app is older than the first version that makes proofs.
    public static let appOutdated = AppCheckCause(code: "app_outdated", canReAttest: false)
    /// A member of the proof is missing, or has another form. Nothing was verified.
    public static let proofMalformed = AppCheckCause(code: "proof_malformed", canReAttest: false)
}

extension AppCheckCause {
    public init(_ error: AppAttestationError) {
        self.init(code: error.code.rawValue, canReAttest: error.code.canReAttest)
    }
}

extension AppAttestationErrorCode {
    /// True if the refused object belongs to a key that is lost for this service, and a new key would pass.
    fileprivate var canReAttest: Bool {
        switch self {
        // The certificate of an attestation has ended, the attestation is for another challenge, or the key
        // was made by a build of the other environment, for example before the user installed the app from
        // TestFlight.
        case .certificateExpired, .environmentMismatch, .nonceMismatch: true
        // The same key signs a new assertion.
        case .counterNotIncreased, .signatureInvalid: false
        // Faults of the app's code, and objects of other apps and devices.
        case .objectTooLarge, .objectMalformed, .formatMismatch, .certificateMalformed, .chainUntrusted,
            .certificateNotYetValid, .certificateKeyUnusable, .nonceMissing, .keyIDMismatch,
            .authenticatorDataMalformed, .appIDMismatch, .counterNotZero, .environmentUnknown,
            .credentialIDMismatch, .credentialKeyMismatch, .extensionsMalformed, .keyPolicyMissing,
            .keyPolicyMismatch:
            false
        }
    }
}
