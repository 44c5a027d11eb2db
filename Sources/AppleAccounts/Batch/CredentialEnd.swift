/// A credential, or all credentials of an account, that ended for good: consent was withdrawn, the Apple
/// Account was deleted, or the account was erased here.
///
/// OAuth grants that hang on it end in the same transaction. The end of a refresh token at Apple
/// (`refresh_token_rejected`) is none: it suspends tokens until the next sign-in.
public struct CredentialEnd: Sendable, Hashable {
    public let accountID: AccountID
    public let team: TeamID
    /// `nil` for a person who is erased by it.
    public let subject: AppleSubject?
    /// The primary client ID of the app; `nil` for all apps.
    public let clientID: ClientID?
    /// What was authorized up to then has ended. What was authorized later goes on.
    public let moment: Moment
    public let reason: GrantEndReason
    public let source: CredentialSource
    /// By our clock.
    public let recordedAt: Moment
    /// Before which of the working set's `events` the end of grants is told.
    public let eventIndex: Int

    init(
        accountID: AccountID, team: TeamID, subject: AppleSubject?, clientID: ClientID?, moment: Moment,
        reason: GrantEndReason, source: CredentialSource, recordedAt: Moment, eventIndex: Int
    ) {
        self.accountID = accountID
        self.team = team
        self.subject = subject
        self.clientID = clientID
        self.moment = moment
        self.reason = reason
        self.source = source
        self.recordedAt = recordedAt
        self.eventIndex = eventIndex
    }

    init(
        accountID: AccountID, key: SubjectKey, clientID: ClientID?, moment: Moment, reason: GrantEndReason,
        source: CredentialSource, recordedAt: Moment, eventIndex: Int
    ) {
        self.init(
            accountID: accountID, team: key.team, subject: key.subject, clientID: clientID, moment: moment,
            reason: reason, source: source, recordedAt: recordedAt, eventIndex: eventIndex)
    }

    /// Whether it ends what was authorized at a moment for an app, by its primary client ID.
    public func ends(_ primaryClientID: ClientID, authorizedAt: Moment) -> Bool {
        guard clientID == nil || clientID == primaryClientID else { return false }
        // Nothing of a person who is erased stays, not even what a replica with a faster clock has authorized.
        return subject == nil || authorizedAt <= moment
    }
}

extension CredentialReason {
    /// Why grants end when a credential is revoked for this reason; `nil` when they do not.
    public var grantEndReason: GrantEndReason? {
        switch self {
        case .consentRevoked: .consentRevoked
        case .appleAccountDeleted: .appleAccountDeleted
        case .erased: .erased
        case .signedIn, .refreshTokenRejected: nil
        }
    }
}
