/// The user's consent: its moment by Apple's clock, and the source of this fact.
public struct Authorization: Sendable, Hashable {
    public let moment: Moment
    public let source: CredentialSource

    public init(moment: Moment, source: CredentialSource) {
        (self.moment, self.source) = (moment, source)
    }
}

extension Authorization: Comparable {
    /// By moment. The source only makes the order total, so that the later of two authorizations is the same
    /// in any order of arrival.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.moment, lhs.source.rank) < (rhs.moment, rhs.source.rank)
    }
}

extension CredentialSource {
    /// Breaks ties between equal moments: Apple's notifications come before our requests and actions.
    var rank: Int {
        switch self {
        case .erasure: 0
        case .dailyCheck: 1
        case .signIn: 2
        case .notification: 3
        }
    }
}
