public import Encodings

/// App Check in this process: its policies and its decision counts.
public struct AppCheck: Sendable {
    public let policies: AppCheckPolicies
    public let counts: AppCheckCounts

    public init(_ policies: AppCheckPolicies = .none) {
        self.policies = policies
        counts = AppCheckCounts(of: policies)
    }

    /// Judges a request and counts it. Does nothing without a policy, or if the policy's mode is `off`.
    ///
    /// - Parameters:
    ///   - policy: The policy for the request, from `policies`.
    ///   - appVersion: The request's `app_version` member.
    ///   - now: Seconds since 1970.
    /// - Throws: The refusal, in enforced mode only.
    public func judge(
        _ proof: AppCheckProof, by policy: AppCheckPolicy?, appVersion: String?, at now: Int64
    ) throws(AppCheckRefusal) {
        guard let policy, let decision = policy.decision(on: proof, appVersion: appVersion) else { return }
        counts.add(decision.kind, for: policy.target, at: now)
        if let refusal = decision.refusal { throw refusal }
    }
}

/// Result of parsing and verifying a request's proof.
public enum AppCheckProof: Sendable, Hashable {
    /// The request has no `attestation` member.
    case absent
    case holds
    case doesNotHold(AppCheckCause)
}

/// The result of judging a request.
public struct AppCheckDecision: Sendable, Equatable {
    /// The kind that the request is counted as.
    public let kind: AppCheckKind
    /// The refusal; `nil` if the request may continue, which is always true in monitored mode.
    public let refusal: AppCheckRefusal?
}

/// The kind of a request, which its proof determines. Every judged request has exactly one kind.
public enum AppCheckKind: String, Sendable, CaseIterable {
    /// The request has a valid proof.
    case verified
    /// The request has no proof, because its app version does not send proofs yet.
    case outdatedApp = "outdated_app"
    /// The request has no proof, although its app version sends proofs or is unknown.
    case unknownOrigin = "unknown_origin"
    /// The request has an invalid proof.
    case invalid
}

/// Refusal of a request whose proof is missing or invalid. Only enforced mode refuses requests.
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
    /// Explanation for the developers of callers and apps: printable ASCII without quotation marks.
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

/// The cause of an invalid or missing proof, for apps and logs.
public struct AppCheckCause: Sendable, Hashable {
    /// A stable code in lower case, for example `counter_not_increased`. It contains no request value.
    public let code: String
    /// True if the app can continue with a newly attested key. False if a new key does not help: either the
    /// app must create a new assertion with its key, or the app's code is faulty.
    public let canReAttest: Bool

    public init(code: String, canReAttest: Bool) {
        (self.code, self.canReAttest) = (code, canReAttest)
    }

    /// The request has no proof.
    public static let proofMissing = AppCheckCause(code: "proof_missing", canReAttest: false)
    /// The request has no proof, and its app is older than the first version that sends proofs.
    public static let appOutdated = AppCheckCause(code: "app_outdated", canReAttest: false)
    /// A member of the proof is missing or malformed, so nothing was verified.
    public static let proofMalformed = AppCheckCause(code: "proof_malformed", canReAttest: false)
}

extension AppCheckCause {
    public init(_ error: AppAttestationError) {
        self.init(code: error.code.rawValue, canReAttest: error.code.canReAttest)
    }
}

extension AppAttestationErrorCode {
    /// True if this service can no longer accept the refused object's key, but a new key would pass.
    fileprivate var canReAttest: Bool {
        switch self {
        // A new key helps: the attestation's certificate has expired, the attestation is for another
        // challenge, or the key was made by a build for the other environment, for example before the user
        // installed the app from TestFlight.
        case .certificateExpired, .environmentMismatch, .nonceMismatch: true
        // A new key is not needed, because the same key can sign a new assertion.
        case .counterNotIncreased, .signatureInvalid: false
        // A new key does not help against faults in the app's code, or objects from other apps and devices.
        case .objectTooLarge, .objectMalformed, .formatMismatch, .certificateMalformed, .chainUntrusted,
            .certificateNotYetValid, .certificateKeyUnusable, .nonceMissing, .keyIDMismatch,
            .authenticatorDataMalformed, .appIDMismatch, .counterNotZero, .environmentUnknown,
            .credentialIDMismatch, .credentialKeyMismatch, .extensionsMalformed, .keyPolicyMissing,
            .keyPolicyMismatch:
            false
        }
    }
}
