public import AppleAccounts

/// An entry of an account's history, as far as a caller may see it.
public struct SeenHistoryEntry: Sendable, Hashable {
    public let kind: HistoryEntry.Kind
    /// The primary client ID of the app that it came for; `nil` for an app that the caller may not see.
    public let clientID: ClientID?
    public let outcome: HistoryEntry.Outcome
    public let moment: Moment
    public let recordedAt: Moment
    public let decidedBy: Moment?
    public let cause: RefreshTokenCause?

    /// Returns `nil` for an entry that the caller may not see.
    public init?(_ entry: HistoryEntry, in scope: AppScope) {
        let isOwn = scope.allows(entry.clientID)
        switch entry.kind {
        case .appleAccountDeleted:
            // It concerns all apps of the user. The moment that decided can be that of a sign-in to any of them.
            decidedBy = scope == .all ? entry.decidedBy : nil
        case .signIn, .exchange, .consentRevoked, .emailForwarding, .refreshTokenRejected:
            guard isOwn else { return nil }
            decidedBy = entry.decidedBy
        }
        clientID = isOwn ? entry.clientID : nil
        (kind, outcome, cause) = (entry.kind, entry.outcome, entry.cause)
        (moment, recordedAt) = (entry.moment, entry.recordedAt)
    }
}
