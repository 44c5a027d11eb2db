/// Treatment of the proofs of genuine apps, for one bundle ID or one OAuth client.
public enum AppCheckMode: String, Sendable, CaseIterable {
    /// Proofs are neither read nor counted.
    case off
    /// Proofs are verified and counted. No request is refused.
    case monitored
    /// Requests without a proof that holds are refused.
    case enforced
}
