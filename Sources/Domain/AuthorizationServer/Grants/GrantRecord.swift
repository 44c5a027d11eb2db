// AuthorizationServer owns OAuth 2.0: clients, scopes, redirect URIs, requests, grants, codes, tokens, and
// the decisions about them. It does no I/O, reads no clock, and knows neither HTTP servers nor databases.

public import AppleAccounts

/// Access that one user has granted to one OAuth client. Each authorization adds a token family.
public struct GrantRecord: Sendable, Hashable {
    public let id: GrantID
    public let accountID: AccountID
    public let oauthClientID: OAuthClientID
    /// The primary client ID of the app that the OAuth client belongs to. The credential for this
    /// app decides if tokens of the grant are valid.
    public let clientID: ClientID
    /// All scopes that the user has agreed to, space-separated, in the order of the agreements.
    public var scope: String
    public let createdAt: Moment
    /// Time at which the user last agreed.
    public var consentedAt: Moment
    /// The authorization moment of the latest token family or code. A
    /// revocation ends grants that are not younger.
    public var authorizedAt: Moment
    /// The `sub` of the Google account that was linked last by streamlined linking, or learned otherwise. It
    /// only informs; no rule reads it, because each token family stores its own `sub`.
    public var googleSubject: String?
    /// Start of the last day (UTC) on which the client got tokens; `nil` before the first tokens. It is a
    /// day, so that refreshes change the row once a day.
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

/// Counts the grants that an account has given to an OAuth client within an
/// hour, and the token families that have begun.
///
/// The pace outlives the grants. Otherwise one user could agree and revoke without end, and every round would
/// leave two events in the feed forever. Or a user could agree once and have codes redeemed without end, and
/// every code would leave a row in the audit log.
public struct GrantPace: Sendable, Hashable {
    public let accountID: AccountID
    public let oauthClientID: OAuthClientID
    /// Time of the first grant, or of the first token family, of the hour.
    public private(set) var begunAt: Moment
    /// Number of new grants.
    public private(set) var count: Int64
    /// Number of new token families.
    public private(set) var families: Int64

    /// Largest number of grants within an hour.
    public static let most: Int64 = 20
    /// Largest number of token families within an hour.
    public static let mostFamilies: Int64 = 100
    /// Milliseconds of the window: an hour. After it the pace is deleted.
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

    /// Returns true if a new grant would be refused.
    public func isFull(at moment: Moment) -> Bool {
        var next = self
        return !next.countGrant(at: moment)
    }

    /// Counts one more grant. Returns false, and counts nothing, at the limit.
    mutating func countGrant(at moment: Moment) -> Bool {
        beginHour(ifOverAt: moment)
        guard count < Self.most else { return false }
        count += 1
        return true
    }

    /// Counts one more token family. Returns false, and counts nothing, at the limit.
    mutating func countFamily(at moment: Moment) -> Bool {
        beginHour(ifOverAt: moment)
        guard families < Self.mostFamilies else { return false }
        families += 1
        return true
    }

    /// Time from which the counts of grants and token families begin again.
    var endsAt: Moment { begunAt.advanced(byMilliseconds: Self.window) }

    private mutating func beginHour(ifOverAt moment: Moment) {
        guard moment >= endsAt else { return }
        (begunAt, count, families) = (moment, 0, 0)
    }
}
