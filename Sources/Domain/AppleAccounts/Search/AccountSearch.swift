/// A question for accounts: what is known of them, and how they must be.
public struct AccountSearch: Sendable, Hashable {
    /// Something that few accounts have. Texts are compared with their ASCII letters in lower case.
    public enum Key: Sendable, Hashable {
        /// The whole address: signed by Apple, a relay address, or posted by the app and unsigned.
        case email(String)
        /// First name, last name, or both with one space.
        case name(String)
        case account(AccountID)
        /// In each team.
        case subject(AppleSubject)
        case grant(GrantID)
    }

    /// `nil` for all accounts.
    public let key: Key?
    public let filter: AccountFilter
    /// Accounts without a credential for one of the caller's apps are not found, and credentials for other apps
    /// count for no filter.
    public let scope: AppScope

    public init(key: Key? = nil, filter: AccountFilter = AccountFilter(), scope: AppScope) {
        (self.key, self.filter, self.scope) = (key, filter, scope)
    }

    /// The number of accounts that one page looks at, at most. Bounds the time of a page: a page can be empty
    /// although accounts of later pages match.
    public static let longestScan = 500
}

/// Conditions on an account. Those about credentials must hold for one credential together.
public struct AccountFilter: Sendable, Hashable {
    /// Primary client ID of the app of the credential.
    public var clientID: ClientID?
    public var state: CredentialState?
    public var reason: CredentialReason?
    /// True for credentials with a refresh token of Apple's.
    public var holdsAppleToken: Bool?
    public var isDisabled: Bool?
    /// True for accounts with a grant to an OAuth client of an app that the caller may see.
    public var isLinked: Bool?
    /// Accounts that were created after this moment.
    public var createdAfter: Moment?

    public init(
        clientID: ClientID? = nil, state: CredentialState? = nil, reason: CredentialReason? = nil,
        holdsAppleToken: Bool? = nil, isDisabled: Bool? = nil, isLinked: Bool? = nil,
        createdAfter: Moment? = nil
    ) {
        self.clientID = clientID
        self.state = state
        self.reason = reason
        self.holdsAppleToken = holdsAppleToken
        self.isDisabled = isDisabled
        self.isLinked = isLinked
        self.createdAfter = createdAfter
    }

    /// Returns true if an account has all properties, except `isLinked`.
    ///
    /// - Parameter account: With the credentials that the caller may see, as it is now.
    public func matches(_ account: Account) -> Bool {
        if let isDisabled, isDisabled != (account.disabling != nil) { return false }
        if let createdAfter, account.createdAt <= createdAfter { return false }
        guard clientID != nil || state != nil || reason != nil || holdsAppleToken != nil else { return true }
        return account.credentials.contains { matches($0) }
    }

    private func matches(_ credential: Credential) -> Bool {
        if let clientID, clientID != credential.clientID { return false }
        if let state, state != credential.state { return false }
        if let reason, reason != credential.reason { return false }
        if let holdsAppleToken, holdsAppleToken != (credential.refreshToken == .held) { return false }
        return true
    }
}

/// A page of found accounts.
public struct AccountPage: Sendable, Hashable {
    /// With the credentials that the caller may see.
    public let accounts: [Account]
    /// Position after the last account that was looked at; `nil` when there are no more accounts.
    public let next: SearchPosition?

    public init(accounts: [Account], next: SearchPosition?) {
        (self.accounts, self.next) = (accounts, next)
    }
}
