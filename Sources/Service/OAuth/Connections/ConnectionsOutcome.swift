public import AppleAccounts
public import AuthorizationServer
public import SignIn

/// The next step of a request to the page about connected clients.
public struct ConnectionsOutcome: Sendable {
    public let action: Action
    public let query: ConnectionsQuery
    public let session: AuthorizeOutcome.SessionChange

    public enum Action: Sendable {
        /// The page with the clients.
        case show(ConnectionList)
        /// A page that asks for which app the user wants to sign in.
        case choose([(app: ClientID, name: LocalizedText)])
        /// Redirects to Apple's page, by 303.
        case signIn(WebAuthorizationRequest)
        /// Redirects to this page, by 303.
        case redirect(String)
        /// An error page. `pageUnknown` is for a query that names an app without OAuth clients.
        case refusal(UserPageRefusal)
    }

    init(
        _ action: Action, _ query: ConnectionsQuery, session: AuthorizeOutcome.SessionChange = .keep
    ) {
        (self.action, self.query, self.session) = (action, query, session)
    }
}

/// The clients that have access to an account.
public struct ConnectionList: Sendable {
    public let account: Account
    /// The name of the app that the user has signed in to.
    public let appName: LocalizedText
    /// The oldest first, and those of one moment by their client ID. Also those for other apps of the team.
    public let connections: [Connection]

    public struct Connection: Sendable {
        public let grant: GrantRecord
        /// `nil` for a client that is not configured any more.
        public let client: OAuthClient?
        public let name: LocalizedText
        /// The texts of all scopes that the user has agreed to.
        public let scopes: [LocalizedText]
        /// Proves that this form was shown to this session.
        public let formToken: String
    }
}
