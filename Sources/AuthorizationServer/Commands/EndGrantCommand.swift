public import AppleAccounts

/// A grant ends at the request of the app's backend.
public struct EndGrantCommand: Sendable, Hashable {
    public let grantID: GrantID
    public let accountID: AccountID
    /// The apps that the caller may see.
    public let scope: AppScope
    public let reason: GrantEndReason
    public let moment: Moment

    public init(
        grantID: GrantID, accountID: AccountID, scope: AppScope, reason: GrantEndReason, moment: Moment
    ) {
        self.grantID = grantID
        self.accountID = accountID
        self.scope = scope
        self.reason = reason
        self.moment = moment
    }
}
