public import AppleAccounts

/// How many grants an account has given to an OAuth client within an hour.
///
/// It outlives the grants. Otherwise one person could agree and have it revoked without end, and every round
/// leaves two events in the feed for ever.
public struct GrantPace: Sendable, Hashable {
    public let accountID: AccountID
    public let oauthClientID: OAuthClientID
    /// When the first of them was given.
    public private(set) var begunAt: Moment
    public private(set) var count: Int64

    /// How many there can be within an hour.
    public static let most: Int64 = 20
    /// In milliseconds: an hour. After that the pace is forgotten.
    public static let window: Int64 = 3_600_000

    public init(accountID: AccountID, oauthClientID: OAuthClientID, begunAt: Moment, count: Int64 = 0) {
        self.accountID = accountID
        self.oauthClientID = oauthClientID
        self.begunAt = begunAt
        self.count = count
    }

    /// Counts one more. Returns `false`, and counts nothing, when there are too many already.
    mutating func countGrant(at moment: Moment) -> Bool {
        if moment >= begunAt.advanced(byMilliseconds: Self.window) { (begunAt, count) = (moment, 0) }
        guard count < Self.most else { return false }
        count += 1
        return true
    }
}
