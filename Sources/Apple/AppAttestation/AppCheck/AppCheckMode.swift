/// Treatment of the proofs of genuine apps, for one bundle ID or one OAuth client.
public enum AppCheckMode: String, Sendable, CaseIterable, Comparable {
    /// Proofs are neither read nor counted.
    case off
    /// Proofs are verified and counted. No request is refused.
    case monitored
    /// Requests without a proof that holds are refused.
    case enforced

    /// A stricter mode is greater.
    public static func < (lhs: AppCheckMode, rhs: AppCheckMode) -> Bool { lhs.rank < rhs.rank }

    private var rank: Int {
        switch self {
        case .off: 0
        case .monitored: 1
        case .enforced: 2
        }
    }
}
