/// A request to erase an account.
public struct EraseCommand: Sendable, Hashable {
    public let key: SubjectKey
    public let accountID: AccountID
    public let erasureID: ErasureID
    /// By our clock.
    public let requestedAt: Moment
    /// Time after which Apple is no longer asked.
    public let deadline: Moment
    /// Scope of the caller. It must allow all apps that the account has a credential for when it is erased.
    public let scope: AppScope

    /// For the audit log.
    public let origin: AuditOrigin

    public init(
        key: SubjectKey, accountID: AccountID, erasureID: ErasureID, requestedAt: Moment, deadline: Moment,
        scope: AppScope, origin: AuditOrigin = .current
    ) {
        self.key = key
        self.accountID = accountID
        self.erasureID = erasureID
        self.requestedAt = requestedAt
        self.deadline = deadline
        self.scope = scope
        self.origin = origin
    }
}
