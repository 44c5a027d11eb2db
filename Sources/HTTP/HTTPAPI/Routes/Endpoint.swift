import AppleAccounts
import Commits
import HTTPEngine
import KeySets
import NIOCore
import NIOHTTP1
import SignIn

/// One call of this interface, with all its properties in one declaration (`Endpoints+SignIn.swift` and its
/// like). The route table, authentication, limits, the form of errors and the metrics follow from the list.
///
/// Caller, body format, form of errors and priority have no default, because a forgotten property would be
/// dangerous.
final class Endpoint: Sendable {
    /// The `operationId` of the OpenAPI document, which generated clients use as the call's name.
    let name: StaticString
    let method: RouteMethod
    /// The path with names in braces for its values, as in the log and the metrics. Two calls can have the
    /// same path.
    let path: StaticString
    let caller: Caller
    let body: BodyFormat
    let errors: Errors
    let priority: RequestPriority
    let wait: Wait
    let fields: Fields
    let origins: Origins
    let operation: Operation
    /// The parameters that a strict query may have.
    let queryNames: [String]
    /// Returns `true` if this deployment has the call.
    let isServed: @Sendable (Routes) -> Bool
    let handle: @Sendable (Routes, HTTPRequest) throws -> Step<HTTPResponse>

    /// - Parameters:
    ///   - family: The routes that handle the call. A deployment without these routes does not have the call.
    ///   - handle: Returns the response, or the work that produces the response.
    init<Family>(
        _ name: StaticString, _ method: RouteMethod, _ path: StaticString,
        of family: @escaping @Sendable (Routes) -> Family?, caller: Caller, body: BodyFormat, errors: Errors,
        priority: RequestPriority, wait: Wait = .none, fields: Fields = .ordinary, origins: Origins = .own,
        _ operation: Operation,
        handle: @escaping @Sendable (Family, HTTPRequest) throws -> Step<HTTPResponse>
    ) {
        (self.name, self.method, self.path) = (name, method, path)
        (self.caller, self.body, self.errors, self.priority) = (caller, body, errors, priority)
        (self.wait, self.fields, self.origins) = (wait, fields, origins)
        self.operation = operation
        queryNames = operation.parameters.filter { $0.place == .query }.map(\.name)
        isServed = { family($0) != nil }
        self.handle = { routes, request in
            guard let family = family(routes) else { throw Problem(.notFound) }
            return try handle(family, request)
        }
    }

    enum Caller: Sendable {
        /// A backend, by its API key.
        case apiKey
        /// A caller with an API key for all apps, or the key for the metrics, which opens only this call.
        case metricsReader
        /// Any client. Apple and browsers cannot send an API key, and a load balancer should not need one.
        case anyone
        /// A client that authenticates itself by the rules of OAuth, with a secret, a token or a signature.
        /// Introspection also accepts an API key.
        case oauthClient
    }

    /// The form of error responses, see `ErrorFormat`.
    enum Errors: Sendable {
        case problem
        case oauth
        /// A page, because a browser shows it to a user.
        case page
        /// A page for browsers, and a problem for programs.
        case pageForBrowsers
    }

    /// Time for which the call waits by design.
    enum Wait: Sendable {
        case none
        /// Waits for Apple's or Google's keys. A failed fetch has its
        /// own error: an earlier time limit would blame the database.
        case keys
        case atMost(Duration)
        /// The call may end at any time with the events found so far.
        case longPoll(Duration)

        var longest: TimeAmount {
            switch self {
            case .none: .zero
            case .keys: .milliseconds(KeySetBounds().longestFetch)
            case .atMost(let time), .longPoll(let time): TimeAmount(time)
            }
        }

        var isLongPoll: Bool { if case .longPoll = self { true } else { false } }
    }

    /// Header fields read in addition to the fields of every call.
    enum Fields: Sendable {
        case ordinary
        /// Fields with which OAuth clients authenticate themselves.
        case oauth
        /// Fields that describe the browser.
        case browser
    }

    /// Access of pages of other sites.
    enum Origins: Sendable {
        /// No access: in development such pages must not change anything, see `ForeignPageCheck`.
        case own
        /// Pages may post here: a value in the form binds it to the browser.
        case others
        /// Pages may read the response (`CrossOriginAccess`).
        case readers
    }
}

/// The form of a request body.
enum BodyFormat: Sendable {
    case none
    case json
    /// `application/x-www-form-urlencoded`, as browsers post an HTML form.
    case form
    /// The same media type. The route itself responds to a body of another content type, with a page.
    case pageForm
    /// The same media type, read by the rules of OAuth, with its own response to a wrong content type.
    case oauthForm
    /// `application/secevent+jwt` (RFC 8935 §2.1).
    case securityEventToken
}

/// The method of a route (RFC 9110 §9.3).
enum RouteMethod: Sendable {
    case get, post, delete

    /// Returns `true` if a request with this method matches the route. `HEAD` is `GET` without the body.
    func isMeant(by method: HTTPMethod) -> Bool {
        switch self {
        case .get: method == .GET || method == .HEAD
        case .post: method == .POST
        case .delete: method == .DELETE
        }
    }

    /// The method in the `Allow` field.
    var allowed: String {
        switch self {
        case .get: "GET, HEAD"
        case .post: "POST"
        case .delete: "DELETE"
        }
    }
}

/// Grants scripts of any web page the right to read some responses (Fetch §3.2): the documents about this
/// server, and userinfo, whose caller has the access token already.
///
/// No other response has these fields. Credentials of the browser are never
/// allowed, so a page learns only data that any program can read without a
/// browser. Tokens are not issued to pages: clients in a browser need a server.
enum CrossOriginAccess {
    /// Returns the response, readable for pages if the call allows it.
    static func granted(by endpoint: Endpoint?, _ response: HTTPResponse) -> HTTPResponse {
        guard let endpoint, endpoint.origins == .readers else { return response }
        var response = response
        response.fields.append(("access-control-allow-origin", "*"))
        response.fields.append(
            ("access-control-expose-headers", "www-authenticate, retry-after, x-request-id"))
        return response
    }

    /// The response to the browser's preflight before a request with `Authorization` (Fetch §4.8).
    static var preflight: HTTPResponse {
        var response = HTTPResponse(status: .noContent, contentType: nil, body: [])
        response.fields = [
            ("access-control-allow-methods", "GET, POST"),
            ("access-control-allow-headers", "authorization, content-type"),
            ("access-control-max-age", "86400"),
        ]
        return response
    }
}
