public import AppleAccounts

/// All grants of an account end at the request of the app's backend.
public struct EndGrantsCommand: Sendable, Hashable {
    public let accountID: AccountID
    /// The apps that the caller may see. Grants of other apps stay.
    public let scope: AppScope
    public let reason: GrantEndReason
    public let moment: Moment

    /// For the audit log.
    public let origin: AuditOrigin

    public init(
        accountID: AccountID, scope: AppScope, reason: GrantEndReason, moment: Moment,
        origin: AuditOrigin = .current
    ) {
        self.accountID = accountID
        self.scope = scope
        self.reason = reason
        self.moment = moment
        self.origin = origin
    }
}
