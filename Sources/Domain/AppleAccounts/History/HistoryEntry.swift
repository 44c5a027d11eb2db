/// Something about an account that the event feed does not tell, or of which it tells less: a sign-in without
/// news, the end of an exchange, a notification that came late, Apple's refusal of a refresh token.
///
/// Entries are for people who look at one account. No rule reads them. They are bounded in number and age, and an
/// erasure removes them.
public struct HistoryEntry: Sendable, Hashable {
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The first sign-in to the app on a day (UTC) that changed nothing but the time. Sign-ins with news are
        /// in the event feed.
        case signIn
        /// The end of the exchange of an authorization code.
        case exchange
        case consentRevoked
        case appleAccountDeleted
        case emailForwarding
        /// Apple refused a refresh token at a check.
        case refreshTokenRejected
    }

    public enum Outcome: Sendable, Hashable, CaseIterable {
        /// The account has changed.
        case changed
        /// Arrived late: a fact with a later moment decides, and the account stays as it was.
        case overtaken
        /// The account was so before.
        case alreadySo
        /// Apple's refresh token is held.
        case tokenKept
        /// The same token, or a token of a later authorization, was already held.
        case tokenSuperseded
        /// The token was not kept, because its authorization has been revoked.
        case tokenDropped
        /// There was no token; `cause` has the reason.
        case tokenUnavailable
        /// Was about a token that is not held any more.
        case ignored
    }

    /// The number of entries that an account has at most. The oldest entries go.
    public static let mostPerAccount: Int64 = 200
    /// Milliseconds after which an entry is deleted: 90 days.
    public static let keptFor: Int64 = 90 * 86_400_000

    public let accountID: AccountID
    public let kind: Kind
    /// The primary client ID of the app that it came for.
    public let clientID: ClientID
    public let outcome: Outcome
    /// Apple's moment of the fact; our moment where Apple sent none.
    public let moment: Moment
    /// By our clock.
    public let recordedAt: Moment
    /// Moment of the fact that decided, when the entry changed nothing.
    public let decidedBy: Moment?
    public let cause: RefreshTokenCause?

    public init(
        accountID: AccountID, kind: Kind, clientID: ClientID, outcome: Outcome, moment: Moment,
        recordedAt: Moment, decidedBy: Moment? = nil, cause: RefreshTokenCause? = nil
    ) {
        self.accountID = accountID
        self.kind = kind
        self.clientID = clientID
        self.outcome = outcome
        self.moment = moment
        self.recordedAt = recordedAt
        self.decidedBy = decidedBy
        self.cause = cause
    }
}
