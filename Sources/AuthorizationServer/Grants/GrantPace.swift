public import AppleAccounts

/// Counts the grants that an account has given to an OAuth client within an hour.
///
/// The pace outlives the grants. Otherwise one user could agree and revoke without end, and every round would
/// leave two events in the feed for ever.
public struct GrantPace: Sendable, Hashable {
    public let accountID: AccountID
    public let oauthClientID: OAuthClientID
    /// Time of the first grant of the hour.
    public private(set) var begunAt: Moment
    public private(set) var count: Int64

    /// Number of grants within an hour.
    public static let most: Int64 = 20
    /// Milliseconds of the window: an hour. After it the pace is forgotten.
    public static let window: Int64 = 3_600_000

    public init(accountID: AccountID, oauthClientID: OAuthClientID, begunAt: Moment, count: Int64 = 0) {
        self.accountID = accountID
        self.oauthClientID = oauthClientID
        self.begunAt = begunAt
        self.count = count
    }

    /// Returns `true` if a new grant would be refused.
    public func isFull(at moment: Moment) -> Bool {
        var next = self
        return !next.countGrant(at: moment)
    }

    /// Counts one more grant. Returns `false`, and counts nothing, at the limit.
    mutating func countGrant(at moment: Moment) -> Bool {
        if moment >= begunAt.advanced(byMilliseconds: Self.window) { (begunAt, count) = (moment, 0) }
        guard count < Self.most else { return false }
        count += 1
        return true
    }
}
