/// The end of the user's consent: its moment by Apple's clock (or ours, when we ended it), and the reason.
public struct Revocation: Sendable, Hashable {
    public let moment: Moment
    public let reason: CredentialReason
    public let source: CredentialSource

    public init(moment: Moment, reason: CredentialReason, source: CredentialSource) {
        (self.moment, self.reason, self.source) = (moment, reason, source)
    }
}

extension Revocation: Comparable {
    /// By moment. Reason and source only make the order total, so that the later of two revocations is the
    /// same in any order of arrival.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        (lhs.moment, lhs.reason.rank, lhs.source.rank) < (rhs.moment, rhs.reason.rank, rhs.source.rank)
    }
}

extension CredentialReason {
    /// Breaks ties between equal moments: the more final reason stays.
    fileprivate var rank: Int {
        switch self {
        case .signedIn: 0
        case .refreshTokenRejected: 1
        case .consentRevoked: 2
        case .erased: 3
        case .appleAccountDeleted: 4
        }
    }
}
