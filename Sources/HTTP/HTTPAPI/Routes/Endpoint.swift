import AppleAccounts
import Commits
import HTTPEngine
import KeySets
import NIOCore
import NIOHTTP1
import SignIn

/// An endpoint of the API. Its declaration in `Endpoints+SignIn.swift` or a similar file contains all its
/// properties. The list of declarations determines the route table, authentication, limits, error formats and
/// metrics.
///
/// Caller, body format, error format and priority have no default, because forgetting one of them would be
/// dangerous.
final class Endpoint: Sendable {
    /// The `operationId` in the OpenAPI document, which client generators use as the call's name.
    let name: StaticString
    let method: RouteMethod
    /// The path template, with a name in braces for each value, as shown in the log and the metrics. Several
    /// calls can have the same path.
    let path: StaticString
    let caller: Caller
    let body: BodyFormat
    let errors: Errors
    let priority: RequestPriority
    let wait: Wait
    let fields: Fields
    let origins: Origins
    let operation: Operation
    /// The parameters that the query may contain.
    let queryNames: [String]
    /// Returns `true` if this deployment serves the call.
    let isServed: @Sendable (Routes) -> Bool
    let handle: @Sendable (Routes, HTTPRequest) throws -> Step<HTTPResponse>

    /// - Parameters:
    ///   - family: The routes that handle the call. A deployment without these routes does not serve the
    ///     call.
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
        /// A backend that presents an API key.
        case apiKey
        /// A caller with an API key for all apps, or with the metrics key, which gives access only to this
        /// call.
        case metricsReader
        /// Any client. Apple and browsers cannot send an API key, and a load balancer should not need a key.
        case anyone
        /// A client that authenticates itself as OAuth defines: with a secret, a token or a signature.
        /// Introspection also accepts an API key.
        case oauthClient
    }

    /// The format of error responses (see `ErrorFormat`).
    enum Errors: Sendable {
        case problem
        case oauth
        /// The response is an HTML page, because a browser shows the error to a user.
        case page
        /// An HTML page for browsers, and a problem document for programs.
        case pageForBrowsers
    }

    /// The time that the call may intentionally wait.
    enum Wait: Sendable {
        case none
        /// The call waits for a fetch of Apple's or Google's keys. A failed fetch has its own error, so the
        /// time limit must not end the call earlier and wrongly blame the database.
        case keys
        case atMost(Duration)
        /// The call waits for events. It can end at any time, with the events that it has found.
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

    /// The headers that the call needs in addition to the headers that every call gets.
    enum Fields: Sendable {
        case ordinary
        /// Headers that authenticate OAuth clients.
        case oauth
        /// Headers that describe the browser.
        case browser
    }

    /// Specifies whether pages from other sites may call this endpoint.
    enum Origins: Sendable {
        /// Pages from other sites have no access. In development these pages must not change anything (see
        /// `ForeignPageCheck`).
        case own
        /// Pages from other sites may post to the call, because a value in the form binds it to the browser.
        case others
        /// Pages from other sites may read the response (see `CrossOriginAccess`).
        case readers
    }
}

/// The format of a request body.
enum BodyFormat: Sendable {
    case none
    case json
    /// The media type `application/x-www-form-urlencoded`, which browsers use to post an HTML form.
    case form
    /// The media type of `form`, but the route itself responds to any other content type, with a page.
    case pageForm
    /// The media type of `form`, parsed as OAuth requires. A wrong content type gets its own error response.
    case oauthForm
    /// The media type `application/secevent+jwt` (RFC 8935 §2.1).
    case securityEventToken
}

/// The method of a route (RFC 9110 §9.3).
enum RouteMethod: Sendable {
    case get, post, delete

    /// Returns `true` if a request with this method matches the route. `HEAD` also matches `GET`, but its
    /// response has no body.
    func isMeant(by method: HTTPMethod) -> Bool {
        switch self {
        case .get: method == .GET || method == .HEAD
        case .post: method == .POST
        case .delete: method == .DELETE
        }
    }

    /// The value of the `Allow` header.
    var allowed: String {
        switch self {
        case .get: "GET, HEAD"
        case .post: "POST"
        case .delete: "DELETE"
        }
    }
}

/// Allows scripts on any web page to read some responses (Fetch §3.2): the public documents about this
/// server, and userinfo, whose caller already has the access token.
///
/// No other response has these headers. They never allow browser credentials, so a page can only read data
/// that any program can read without a browser. Pages cannot read token endpoint responses, because a client
/// that runs in a browser needs a server.
enum CrossOriginAccess {
    /// Returns the response, and allows pages to read it if the call permits this.
    static func granted(by endpoint: Endpoint?, _ response: HTTPResponse) -> HTTPResponse {
        guard let endpoint, endpoint.origins == .readers else { return response }
        var response = response
        response.fields.append(("access-control-allow-origin", "*"))
        response.fields.append(
            ("access-control-expose-headers", "www-authenticate, retry-after, x-request-id"))
        return response
    }

    /// The response to the browser's preflight request before a request with `Authorization` (Fetch §4.8).
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
