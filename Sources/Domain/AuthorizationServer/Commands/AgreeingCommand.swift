import AppleAccounts

/// A command that gives or widens a grant, because its user has signed in at Apple and agrees.
protocol AgreeingCommand {
    var accountID: AccountID { get }
    /// The ID of the grant if the grant is new.
    var newGrantID: GrantID { get }
    var oauthClientID: OAuthClientID { get }
    var clientID: ClientID { get }
    var scope: String { get }
    var authenticatedAt: Moment { get }
    var authenticatedAfter: Moment? { get }
    var moment: Moment { get }
}

extension AuthorizeCommand: AgreeingCommand {}

extension TokenExchangeCommand: AgreeingCommand {}
