/// Result of reading and verifying the proof of a request.
public enum AppCheckProof: Sendable, Hashable {
    /// The request has no member `attestation`.
    case absent
    case holds
    case doesNotHold(AppCheckCause)
}
