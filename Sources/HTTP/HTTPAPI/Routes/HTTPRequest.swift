import AppleAccounts
import NIOHTTP1
import OAuth
import WebOrigins

/// One request as a route sees it: complete, and its caller authenticated.
struct HTTPRequest: Sendable {
    let requestID: String
    /// The decoded segment of the path that is a value, in routes that have a parameter.
    let parameter: String?
    /// The second decoded segment, in routes that have two parameters.
    var secondParameter: String?
    let query: Substring?
    let body: [UInt8]
    let ifNoneMatch: String?
    /// The whole field as the browser sent it.
    let cookie: String?
    /// The apps that the caller may see.
    let scope: AppScope
    /// The name of the caller's API key; `nil` in a call without one, and in development without keys.
    var caller: String?
    /// Set only in routes of OAuth.
    var oauth: OAuthFields?
    /// Set only in routes that read the fields.
    var browser: BrowserFields?
    /// Set only in routes of OAuth.
    var client: ObservedClient?
    /// The request's place in its trace; `nil` where nothing is recorded.
    var trace: RequestTrace?
}

/// Fields of a request that only the routes of OAuth use. A class, so that other requests carry a reference
/// of eight bytes.
final class OAuthFields: Sendable {
    let authorization: String?
    let contentType: String?
    /// `nil` when the address is unknown: a trusted proxy has not named it.
    let address: RequesterAddress?
    let userAgent: String?

    init(authorization: String?, contentType: String?, address: RequesterAddress?, userAgent: String?) {
        (self.authorization, self.contentType, self.address) = (authorization, contentType, address)
        self.userAgent = userAgent
    }
}

/// Fields in which a browser describes itself and its form. A class, so that other requests carry a reference
/// of eight bytes.
final class BrowserFields: Sendable {
    let userAgent: String?
    let acceptLanguage: String?
    /// True if the body is an HTML form.
    let sendsForm: Bool
    /// True if a page posted the request: browsers name the origin of such a page (Fetch §3.2).
    let comesFromPage: Bool
    let sender: RequestSender
    /// `nil` when the address is unknown: a trusted proxy has not named it.
    let address: RequesterAddress?

    init(_ headers: HTTPHeaders, sendsForm: Bool, address: RequesterAddress?) {
        self.address = address
        comesFromPage = headers.contains(name: "origin")
        sender = RequestSender(headers)
        userAgent = headers.first(name: "user-agent")
        acceptLanguage = headers.first(name: "accept-language")
        self.sendsForm = sendsForm
    }
}
