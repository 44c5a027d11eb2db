import KeySets
import NIOCore
import SignIn

/// One call of this interface: all that is true of it stands in its declaration (`Endpoints.swift`). The table of
/// routes, authentication, limits, the form of errors and the metrics follow from the list.
///
/// Who may call, what is read of the body, the form of errors and the priority have no default: to leave one out
/// would be dangerous.
final class Endpoint: Sendable {
    /// The `operationId` of `openapi.yaml`, under which generated clients have the call.
    let name: StaticString
    let method: RouteMethod
    /// The path with names in braces for its values, as the log and the metrics have it. Two calls can share one.
    let path: StaticString
    let caller: Caller
    let body: BodyFormat
    let errors: Errors
    let priority: RequestPriority
    let wait: Wait
    let fields: Fields
    let origins: Origins
    /// Whether this deployment has the call.
    let isServed: @Sendable (Routes) -> Bool
    let handle: @Sendable (Routes, HTTPRequest) throws -> RouteResult

    /// - Parameters:
    ///   - family: Who handles the call. Where it is not configured, there is no such call.
    ///   - handle: Returns the response, or what has to be done for it.
    init<Family>(
        _ name: StaticString, _ method: RouteMethod, _ path: StaticString,
        of family: @escaping @Sendable (Routes) -> Family?, caller: Caller, body: BodyFormat, errors: Errors,
        priority: RequestPriority, wait: Wait = .none, fields: Fields = .ordinary, origins: Origins = .own,
        handle: @escaping @Sendable (Family, HTTPRequest) throws -> RouteResult
    ) {
        (self.name, self.method, self.path) = (name, method, path)
        (self.caller, self.body, self.errors, self.priority) = (caller, body, errors, priority)
        (self.wait, self.fields, self.origins) = (wait, fields, origins)
        isServed = { family($0) != nil }
        self.handle = { routes, request in
            guard let family = family(routes) else { throw Problem(.notFound) }
            return try handle(family, request)
        }
    }

    enum Caller: Sendable {
        /// A backend, by its API key.
        case apiKey
        /// Apple and browsers cannot send an API key, and a load balancer should not need one.
        case anyone
        /// It authenticates itself as OAuth says, with a secret, a token or a signature. Introspection also takes
        /// an API key.
        case oauthClient
    }

    /// The form in which errors are answered, see `ErrorFormat`.
    enum Errors: Sendable {
        case problem
        case oauth
        /// A page, because a browser shows it to a person.
        case page
        /// A page for browsers, and a problem for programs.
        case pageForBrowsers
    }

    /// How long the call waits by design.
    enum Wait: Sendable {
        case none
        /// For Apple's or Google's keys. A failed fetch reports itself: a time limit before that would blame the
        /// database.
        case keys
        case atMost(Duration)
        /// May be ended at any time with what it has.
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

    /// What is read of the header beside what every call reads.
    enum Fields: Sendable {
        case ordinary
        /// What OAuth clients authenticate themselves with.
        case oauth
        /// What kind of browser it is.
        case browser
    }

    /// What pages of other sites may do.
    enum Origins: Sendable {
        /// In development they must not change anything, see `ForeignPageCheck`.
        case own
        /// They may post here: something in the form binds it to the browser.
        case others
        /// They may read the response (`CrossOriginAccess`).
        case readers
    }
}

/// The form of a request body.
enum BodyFormat: Sendable {
    case none
    case json
    /// `application/x-www-form-urlencoded`, as browsers post an HTML form.
    case form
    /// The same. The route itself answers for a body of another content type, with a page.
    case pageForm
    /// The same, read by the rules of OAuth, which has another answer to a wrong content type.
    case oauthForm
    /// `application/secevent+jwt` (RFC 8935 §2.1).
    case securityEventToken
}
