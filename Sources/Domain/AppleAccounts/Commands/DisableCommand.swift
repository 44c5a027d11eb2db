/// A request to disable an account. A repetition with other values replaces them.
public struct DisableCommand: Sendable, Hashable {
    public let key: SubjectKey
    public let accountID: AccountID
    public let reason: Disabling.Reason
    /// `Moment.last` for no end.
    public let until: Moment
    /// Scope of the caller. It must allow all apps that the account has a credential for.
    public let scope: AppScope
    /// By our clock.
    public let moment: Moment

    /// For the audit log.
    public let origin: AuditOrigin

    public init(
        key: SubjectKey, accountID: AccountID, reason: Disabling.Reason, until: Moment = .last,
        scope: AppScope, moment: Moment, origin: AuditOrigin = .current
    ) {
        self.key = key
        self.accountID = accountID
        self.reason = reason
        self.until = until
        self.scope = scope
        self.moment = moment
        self.origin = origin
    }
}
