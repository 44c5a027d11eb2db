// AuthorizationServer owns OAuth 2.0: clients, scopes, redirect URIs, requests, grants, codes, tokens, and
// the decisions about them. It does no I/O, reads no clock, and does not depend on HTTP servers or databases.

public import AppleAccounts

/// The access that a user has granted to an OAuth client. Each authorization adds a token family.
public struct GrantRecord: Sendable, Hashable {
    public let id: GrantID
    public let accountID: AccountID
    public let oauthClientID: OAuthClientID
    /// The primary client ID of the OAuth client's app. The credential for this app determines whether the
    /// grant's tokens are valid.
    public let clientID: ClientID
    /// All scopes that the user has agreed to, space-separated, in the order of the agreements.
    public var scope: String
    public let createdAt: Moment
    /// The time of the user's last consent.
    public var consentedAt: Moment
    /// The authorization moment of the latest token family or code. A revocation ends each grant that was not
    /// authorized after it.
    public var authorizedAt: Moment
    /// The `sub` of the Google account that was linked last, or that became known in another way. It only
    /// informs operators: no rule reads it, because each token family stores its own `sub`.
    public var googleSubject: String?
    /// Start of the last day (UTC) on which the client got tokens. `nil` if it never got any. Only days are
    /// recorded, so that refreshes change the row at most once a day.
    public var lastUsedAt: Moment?

    public init(
        id: GrantID, accountID: AccountID, oauthClientID: OAuthClientID, clientID: ClientID, scope: String,
        createdAt: Moment, consentedAt: Moment, authorizedAt: Moment, googleSubject: String? = nil,
        lastUsedAt: Moment? = nil
    ) {
        self.id = id
        self.accountID = accountID
        self.oauthClientID = oauthClientID
        self.clientID = clientID
        self.scope = scope
        self.createdAt = createdAt
        self.consentedAt = consentedAt
        self.authorizedAt = authorizedAt
        self.googleSubject = googleSubject
        self.lastUsedAt = lastUsedAt
    }
}

/// The number of grants that an account has given an OAuth client within an hour, and the number of token
/// families that the client has begun for the account.
///
/// The pace outlives its grants. Otherwise a user could agree and revoke in a loop, and add two permanent
/// events to the feed each time, or a client could redeem codes in a loop, and add an audit log row for each.
public struct GrantPace: Sendable, Hashable {
    public let accountID: AccountID
    public let oauthClientID: OAuthClientID
    /// The time of the current hour's first new grant or token family.
    public private(set) var begunAt: Moment
    /// The number of new grants since `begunAt`.
    public private(set) var count: Int64
    /// The number of new token families since `begunAt`.
    public private(set) var families: Int64

    /// Maximum number of new grants per hour.
    public static let most: Int64 = 20
    /// Maximum number of new token families per hour.
    public static let mostFamilies: Int64 = 100
    /// Length of the window in milliseconds: one hour, after which a store deletes the pace.
    public static let window: Int64 = 3_600_000

    public init(
        accountID: AccountID, oauthClientID: OAuthClientID, begunAt: Moment, count: Int64 = 0,
        families: Int64 = 0
    ) {
        self.accountID = accountID
        self.oauthClientID = oauthClientID
        self.begunAt = begunAt
        self.count = count
        self.families = families
    }

    /// Returns true if another new grant would exceed the limit.
    public func isFull(at moment: Moment) -> Bool {
        var next = self
        return !next.countGrant(at: moment)
    }

    /// Counts a new grant. At the limit, returns false without counting.
    mutating func countGrant(at moment: Moment) -> Bool {
        beginHour(ifOverAt: moment)
        guard count < Self.most else { return false }
        count += 1
        return true
    }

    /// Counts a new token family. At the limit, returns false without counting.
    mutating func countFamily(at moment: Moment) -> Bool {
        beginHour(ifOverAt: moment)
        guard families < Self.mostFamilies else { return false }
        families += 1
        return true
    }

    /// The time when both counts restart at zero.
    var endsAt: Moment { begunAt.advanced(byMilliseconds: Self.window) }

    private mutating func beginHour(ifOverAt moment: Moment) {
        guard moment >= endsAt else { return }
        (begunAt, count, families) = (moment, 0, 0)
    }
}
