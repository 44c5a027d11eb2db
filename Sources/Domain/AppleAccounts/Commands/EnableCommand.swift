/// The end of a disabling.
public struct EnableCommand: Sendable, Hashable {
    public let key: SubjectKey
    public let accountID: AccountID
    /// True if only a disabling whose time is over ends. Otherwise every disabling ends.
    public let onlyIfOver: Bool
    /// Scope of the caller. It must allow all apps that the account has a credential for.
    public let scope: AppScope
    /// By our clock.
    public let moment: Moment

    /// For the audit log.
    public let origin: AuditOrigin

    public init(
        key: SubjectKey, accountID: AccountID, onlyIfOver: Bool = false, scope: AppScope, moment: Moment,
        origin: AuditOrigin = .current
    ) {
        self.key = key
        self.accountID = accountID
        self.onlyIfOver = onlyIfOver
        self.scope = scope
        self.moment = moment
        self.origin = origin
    }
}
