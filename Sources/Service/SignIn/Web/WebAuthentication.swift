public import AppleAccounts
import StrictJSON

/// A finished sign-in to which the authorization endpoint sent the browser.
public struct WebAuthentication: Sendable, Hashable {
    public let accountID: AccountID
    /// The app's primary client ID.
    public let clientID: ClientID
    /// The authorization moment of Apple's token.
    public let authenticatedAt: Moment
    /// Time at which the browser was sent to Apple.
    public let begunAt: Moment
    /// Time at which Apple's token was verified here.
    public let signedInAt: Moment

    public init(
        accountID: AccountID, clientID: ClientID, authenticatedAt: Moment, begunAt: Moment, signedInAt: Moment
    ) {
        self.accountID = accountID
        self.clientID = clientID
        self.authenticatedAt = authenticatedAt
        self.begunAt = begunAt
        self.signedInAt = signedInAt
    }

    init?(json: JSONValue) {
        guard let accountID = json["account_id"]?.string.flatMap({ AccountID($0) }),
            let clientID = json["app"]?.string.flatMap({ ClientID($0) }),
            let authenticatedAt = json["authenticated"]?.integer, let begunAt = json["begun"]?.integer,
            let signedInAt = json["signed_in"]?.integer
        else { return nil }
        self.init(
            accountID: accountID, clientID: clientID, authenticatedAt: Moment(milliseconds: authenticatedAt),
            begunAt: Moment(milliseconds: begunAt), signedInAt: Moment(milliseconds: signedInAt))
    }
}

extension JSONWriter {
    mutating func members(of authentication: WebAuthentication) {
        member("account_id", authentication.accountID.rawValue)
        member("app", authentication.clientID.rawValue)
        member("authenticated", authentication.authenticatedAt.milliseconds)
        member("begun", authentication.begunAt.milliseconds)
        member("signed_in", authentication.signedInAt.milliseconds)
    }
}

/// The end of a web sign-in, for the browser that began it.
public enum WebArrival: Sendable, Hashable {
    /// The URL of the app's own page, with the code or the error.
    case appPage(String)
    /// Returns to the authorization request with this query.
    case authorization(query: String, WebAuthentication)
    /// Returns to the authorization request with this query; the sign-in failed.
    case refusedAuthorization(query: String, WebFailure)
    /// Returns to the user's page about connected clients.
    case connections(query: String, WebAuthentication)
    /// Returns to this page; the sign-in failed.
    case refusedConnections(query: String, WebFailure)
    /// Returns to the page for the users of devices.
    case device(query: String, WebAuthentication)
    /// Returns to this page; the sign-in failed.
    case refusedDevice(query: String, WebFailure)
}
