public import AppleAccounts

/// A grant ends at the request of the app's backend, or of the user in a browser.
public struct EndGrantCommand: Sendable, Hashable {
    public let grantID: GrantID
    public let accountID: AccountID
    /// The apps that the caller may see.
    public let scope: AppScope
    public let reason: GrantEndReason
    public let moment: Moment
    /// The sign-in of the user; `nil` for the app's backend.
    public let authentication: UserAuthentication?

    /// For the audit log.
    public let origin: AuditOrigin

    public init(
        grantID: GrantID, accountID: AccountID, scope: AppScope, reason: GrantEndReason, moment: Moment,
        authentication: UserAuthentication? = nil, origin: AuditOrigin = .current
    ) {
        self.authentication = authentication
        self.grantID = grantID
        self.accountID = accountID
        self.scope = scope
        self.reason = reason
        self.moment = moment
        self.origin = origin
    }
}

/// A sign-in with Apple whose session acts for the user. It counts while its credential is authorized, and
/// was not revoked since.
public struct UserAuthentication: Sendable, Hashable {
    /// The primary client ID of the app that the user signed in to.
    public let clientID: ClientID
    public let authenticatedAt: Moment

    public init(clientID: ClientID, authenticatedAt: Moment) {
        (self.clientID, self.authenticatedAt) = (clientID, authenticatedAt)
    }
}
