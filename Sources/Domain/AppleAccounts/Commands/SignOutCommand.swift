/// A request to sign a user out everywhere: the sessions of browsers and the grants of OAuth clients end.
/// Apple's consent stays.
public struct SignOutCommand: Sendable, Hashable {
    public let key: SubjectKey
    public let accountID: AccountID
    /// The OAuth clients whose grants stay.
    public let keptClients: Set<OAuthClientID>
    /// Scope of the caller. It must allow all apps that the account has a credential for.
    public let scope: AppScope
    /// By our clock.
    public let moment: Moment

    /// For the audit log.
    public let origin: AuditOrigin

    public init(
        key: SubjectKey, accountID: AccountID, keptClients: Set<OAuthClientID> = [], scope: AppScope,
        moment: Moment, origin: AuditOrigin = .current
    ) {
        self.key = key
        self.accountID = accountID
        self.keptClients = keptClients
        self.scope = scope
        self.moment = moment
        self.origin = origin
    }
}
