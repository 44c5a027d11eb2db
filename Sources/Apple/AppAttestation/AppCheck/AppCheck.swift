public import Encodings

/// App Check of this process: the policies, and the counts of their decisions.
public struct AppCheck: Sendable {
    public let policies: AppCheckPolicies
    public let counts: AppCheckCounts

    public init(_ policies: AppCheckPolicies = .none) {
        self.policies = policies
        counts = AppCheckCounts(of: policies)
    }

    /// Judges a request and counts it. Does nothing without a policy, and when its mode is `off`.
    ///
    /// - Parameters:
    ///   - policy: A policy of `policies`.
    ///   - appVersion: The member `app_version` of the request.
    ///   - now: Seconds since 1970.
    /// - Throws: The refusal of enforced mode.
    public func judge(
        _ proof: AppCheckProof, by policy: AppCheckPolicy?, appVersion: String?, at now: Int64
    ) throws(AppCheckRefusal) {
        guard let policy, let decision = policy.decision(on: proof, appVersion: appVersion) else { return }
        counts.add(decision.kind, for: policy.target, at: now)
        if let refusal = decision.refusal { throw refusal }
    }
}

/// Result of reading and verifying the proof of a request.
public enum AppCheckProof: Sendable, Hashable {
    /// The request has no member `attestation`.
    case absent
    case holds
    case doesNotHold(AppCheckCause)
}

/// Result of judging one request.
public struct AppCheckDecision: Sendable, Equatable {
    /// Kind under which the request is counted.
    public let kind: AppCheckKind
    /// Refusal of the request; `nil` when the request continues. Always `nil` in monitored mode.
    public let refusal: AppCheckRefusal?
}

/// Kind of a request by its proof. Every request that App Check judges has exactly one.
public enum AppCheckKind: String, Sendable, CaseIterable {
    /// With a valid proof.
    case verified
    /// Without a proof, from a version of the app that does not make proofs yet.
    case outdatedApp = "outdated_app"
    /// Without a proof, and from another version.
    case unknownOrigin = "unknown_origin"
    /// With an invalid proof.
    case invalid
}

/// Refusal of a request that does not prove that it comes from the genuine app. Only enforced mode refuses.
public struct AppCheckRefusal: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The request has no proof.
        case attestationRequired = "attestation_required"
        /// The proof is invalid.
        case attestationInvalid = "attestation_invalid"
    }

    public let code: Code
    public let cause: AppCheckCause

    public init(_ code: Code, cause: AppCheckCause) {
        (self.code, self.cause) = (code, cause)
    }
}

extension AppCheckRefusal {
    /// Explanation for developers of callers and apps: printable ASCII without quotation marks.
    public var explanation: String {
        switch code {
        case .attestationRequired: "The request must have a proof of App Attest, and has none."
        case .attestationInvalid:
            cause == .proofMalformed
                ? "The proof of App Attest is malformed. Key ID, attestation and assertion are base64 with "
                    + "padding (RFC 4648 section 4), as the device makes them, and not base64url."
                : "The proof of App Attest does not hold. With re_attest the app makes a new key and attests it."
        }
    }

    public var description: String { "app check refused: \(code.rawValue) (\(cause.code))" }
}

/// Cause of an invalid or missing proof, for apps and logs.
public struct AppCheckCause: Sendable, Hashable {
    /// A stable code in lower case, such as `counter_not_increased`. It contains no value of the request.
    public let code: String
    /// True if the app can continue with a new attested key. False if a new key does not help: the app must
    /// make a new assertion with its key, or its code has a fault.
    public let canReAttest: Bool

    public init(code: String, canReAttest: Bool) {
        (self.code, self.canReAttest) = (code, canReAttest)
    }

    /// The request has no proof.
    public static let proofMissing = AppCheckCause(code: "proof_missing", canReAttest: false)
    /// The request has no proof, and its app is older than the first version that makes proofs.
    public static let appOutdated = AppCheckCause(code: "app_outdated", canReAttest: false)
    /// A member of the proof is missing or malformed. Nothing was verified.
    public static let proofMalformed = AppCheckCause(code: "proof_malformed", canReAttest: false)
}

extension AppCheckCause {
    public init(_ error: AppAttestationError) {
        self.init(code: error.code.rawValue, canReAttest: error.code.canReAttest)
    }
}

extension AppAttestationErrorCode {
    /// True if this service cannot accept the key of the refused object any more, and a new key would pass.
    fileprivate var canReAttest: Bool {
        switch self {
        // The certificate of an attestation has expired, the attestation is for another
        // challenge, or a build of the other environment made the key, for example
        // before the user installed the app from TestFlight.
        case .certificateExpired, .environmentMismatch, .nonceMismatch: true
        // The same key can sign a new assertion.
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
