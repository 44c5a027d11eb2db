/// The person agreed: at this moment by Apple's clock, as we learned from this source.
public struct Authorization: Sendable, Hashable {
    public let moment: Moment
    public let source: CredentialSource

    public init(moment: Moment, source: CredentialSource) {
        (self.moment, self.source) = (moment, source)
    }
}

extension Authorization: Comparable {
    /// By moment. The source only makes the order total, so that the later of two is the same when they come
    /// in the other order.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.moment, lhs.source.rank) < (rhs.moment, rhs.source.rank)
    }
}

extension CredentialSource {
    /// Breaks ties between equal moments: what Apple said unasked before what we asked or did.
    var rank: Int {
        switch self {
        case .erasure: 0
        case .dailyCheck: 1
        case .signIn: 2
        case .notification: 3
        }
    }
}
