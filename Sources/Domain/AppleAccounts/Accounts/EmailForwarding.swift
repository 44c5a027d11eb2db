/// State of Apple's forwarding of mail to the user's relay address.
public enum EmailForwarding: String, Sendable, Hashable, CaseIterable {
    case enabled
    case disabled
    /// No notification about forwarding has arrived yet.
    case unknown
}

extension EmailForwarding: Comparable {
    /// Breaks ties between equal moments: `disabled` stays, because mail that is not sent cannot bounce.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rank < rhs.rank }

    private var rank: Int {
        switch self {
        case .unknown: 0
        case .enabled: 1
        case .disabled: 2
        }
    }
}
