/// The final end of one or all of an account's credentials: consent was withdrawn, the Apple Account was
/// deleted, or this service erased the account. It also represents a sign-out everywhere, which ends the
/// account's sessions but not its credentials.
///
/// OAuth tokens that depend on the credential end in the same transaction.
/// The end of a refresh token at Apple (`refresh_token_rejected`) is not a
/// credential end, because it suspends tokens only until the next sign-in.
public struct CredentialEnd: Sendable, Hashable {
    public let accountID: AccountID
    public let team: TeamID
    /// The user; `nil` if the user was erased.
    public let subject: AppleSubject?
    /// The app's primary client ID; `nil` for all apps.
    public let clientID: ClientID?
    /// Authorizations up to this moment have ended; later authorizations continue.
    public let moment: Moment
    public let reason: GrantEndReason
    /// The source; `nil` if the app's backend signed the user out.
    public let source: CredentialSource?
    /// OAuth clients whose grants stay.
    public let keptClients: Set<OAuthClientID>
    /// True if authorizations after `moment` end too.
    private let isOfAllMoments: Bool
    /// Time of recording, by our clock.
    public let recordedAt: Moment
    /// Index in the working set's `events` at which to insert the events about ended tokens.
    public let eventIndex: Int
    /// The origin, for the audit log.
    public let origin: AuditOrigin

    init(
        accountID: AccountID, team: TeamID, subject: AppleSubject?, clientID: ClientID?, moment: Moment,
        reason: GrantEndReason, source: CredentialSource, recordedAt: Moment, eventIndex: Int,
        origin: AuditOrigin
    ) {
        self.accountID = accountID
        self.team = team
        self.subject = subject
        self.clientID = clientID
        self.moment = moment
        self.reason = reason
        self.source = source
        keptClients = []
        // An erasure ends every authorization, even one made by a replica whose clock is ahead.
        isOfAllMoments = subject == nil
        self.recordedAt = recordedAt
        self.eventIndex = eventIndex
        self.origin = origin
    }

    /// Creates the end of all authorizations so far, except those of some OAuth clients.
    ///
    /// - Parameter moment: Time by our clock. It is not compared with Apple's moments, because all
    ///   authorizations that the transaction finds are earlier.
    init(
        signingOut accountID: AccountID, key: SubjectKey, keptClients: Set<OAuthClientID>, moment: Moment,
        eventIndex: Int, origin: AuditOrigin
    ) {
        self.accountID = accountID
        team = key.team
        subject = key.subject
        clientID = nil
        self.moment = moment
        reason = .signedOut
        source = nil
        self.keptClients = keptClients
        isOfAllMoments = true
        recordedAt = moment
        self.eventIndex = eventIndex
        self.origin = origin
    }

    init(
        accountID: AccountID, key: SubjectKey, clientID: ClientID?, moment: Moment, reason: GrantEndReason,
        source: CredentialSource, recordedAt: Moment, eventIndex: Int, origin: AuditOrigin
    ) {
        self.init(
            accountID: accountID, team: key.team, subject: key.subject, clientID: clientID, moment: moment,
            reason: reason, source: source, recordedAt: recordedAt, eventIndex: eventIndex, origin: origin)
    }

    /// Returns true if this credential end covers an authorization that the user gave an app at this moment.
    /// The app is named by its primary client ID.
    public func ends(_ primaryClientID: ClientID, authorizedAt: Moment) -> Bool {
        guard clientID == nil || clientID == primaryClientID else { return false }
        return isOfAllMoments || authorizedAt <= moment
    }
}

extension CredentialReason {
    /// The reason why tokens end when a credential is revoked for this reason; `nil` if no tokens end.
    public var grantEndReason: GrantEndReason? {
        switch self {
        case .consentRevoked: .consentRevoked
        case .appleAccountDeleted: .appleAccountDeleted
        case .erased: .erased
        case .signedIn, .refreshTokenRejected: nil
        }
    }
}
