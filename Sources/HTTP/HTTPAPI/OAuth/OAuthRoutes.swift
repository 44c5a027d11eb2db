import AppleAccounts
import AuthorizationServer
import EventDelivery
package import HTTPEngine
import NIOHTTP1
package import OAuth

/// The OAuth routes, grouped by purpose.
final class OAuthRoutes: Sendable {
    let tokens: OAuthTokenRoutes
    let documents: OAuthDocumentRoutes
    let keySet: KeySetRoutes
    let grants: OAuthGrantRoutes
    /// The device grant routes; `nil` if no OAuth client may use the device grant.
    let devices: OAuthDeviceRoutes?
    /// The event stream routes; `nil` if no OAuth client has an event stream.
    let streams: EventStreamRoutes?

    /// - Parameter polls: Counts polls; `nil` if no receiver polls and no client has a stream.
    init(
        server: OAuthServer, callers: CallerDirectory, registry: MetricsRegistry, events: EventStreams?,
        polls: PollMetrics?, arrivals: ArrivalLog?
    ) {
        let labels = ClientLabels(server.dependencies.settings.clients.clients)
        let metrics = OAuthMetrics(registry, commits: server.dependencies.commits, labels: labels)
        let authentication = ClientAuthenticating(server: server)
        tokens = OAuthTokenRoutes(
            server: server, callers: callers, authentication: authentication, metrics: metrics,
            refusals: TokenRefusals(
                registry, areExplained: server.dependencies.settings.explainsRefusals, labels: labels))
        devices =
            GrantType.deviceCode.isOffered(to: server.dependencies.settings.clients.clients)
            ? OAuthDeviceRoutes(server: server, authentication: authentication, metrics: metrics) : nil
        if let events, let polls, events.hasClients {
            streams = EventStreamRoutes(
                server: server, streams: events, authentication: authentication, metrics: polls)
        } else {
            streams = nil
        }
        documents = OAuthDocumentRoutes(server: server)
        keySet = KeySetRoutes(keys: server.dependencies.keys)
        grants = OAuthGrantRoutes(server: server, metrics: metrics, arrivals: arrivals)
    }
}

extension Routes {
    /// Returns the error format of a call.
    ///
    /// - Parameter headers: The request headers; `nil` if they did not arrive.
    func errorFormat(
        of endpoint: Endpoint, at target: RequestTarget, headers: HTTPHeaders?
    ) -> ErrorFormat {
        guard endpoint.isServed(self) else { return .problem }
        switch endpoint.errors {
        case .problem: return .problem
        case .oauth: return .oauth
        case .page: return .page(PageReader(query: target.query, headers: headers, languages: languages))
        // Browsers get a page, because Apple redirects users to these calls. A developer's program gets a
        // problem document.
        case .pageForBrowsers:
            guard let headers, acceptsPage(headers) else { return .problem }
            return .page(PageReader(query: nil, headers: headers, languages: languages))
        }
    }

    /// Returns the error format for a path, even if no call has this path.
    func errorFormat(at target: RequestTarget, headers: HTTPHeaders? = nil) -> ErrorFormat {
        if let endpoint = RouteTable.all.endpoint(at: target.path), endpoint.isServed(self) {
            return errorFormat(of: endpoint, at: target, headers: headers)
        }
        return oauth != nil && target.path.utf8.starts(with: "/oauth/".utf8) ? .oauth : .problem
    }

    /// Returns the error format for a path without a call. Browsers get a page.
    ///
    /// - Parameter format: The error format of other calls with the path.
    func errorFormat(
        where target: RequestTarget, _ head: HTTPRequestHead, otherwise format: ErrorFormat
    ) -> ErrorFormat {
        guard head.method == .GET || head.method == .HEAD, acceptsPage(head.headers) else { return format }
        let isAtAppLink = oauth?.documents.isAppLink(target.path) ?? false
        return .page(
            PageReader(query: nil, headers: head.headers, languages: languages, isAtAppLink: isAtAppLink))
    }

    /// Returns `true` for a browser that shows the response to a user. Browsers name HTML first in `Accept`,
    /// and programs that accept any type do not. Reads only the header's first bytes, because any client can
    /// send a long header.
    private func acceptsPage(_ headers: HTTPHeaders) -> Bool {
        headers.first(name: "accept")?.prefix(9).lowercased() == "text/html"
    }
}

/// Authenticates the clients that call OAuth endpoints.
struct ClientAuthenticating: Sendable {
    let server: OAuthServer

    /// Reads the form in a client's request. Throws `TokenEndpointError` if the form is invalid.
    func form<Form: ClientFormRequest>(_ request: HTTPRequest) throws -> Form {
        try Form(
            body: request.body, contentType: request.oauth?.contentType,
            authorization: request.oauth?.authorization, query: request.query?.utf8)
    }

    /// Authenticates a request's client, and records the client for the log.
    func callAsFunction<Body: ClientRequest>(
        _ body: Body, _ request: HTTPRequest
    ) throws -> Body.Authenticated {
        try self(body.credentials, request) { () throws(TokenEndpointError) in
            try body.authenticated(in: server.dependencies.settings.clients)
        }
    }

    /// Authenticates a client, and records the client for the log.
    func callAsFunction<Value: Sendable>(
        _ credentials: ClientCredentials, _ request: HTTPRequest,
        _ body: () throws(TokenEndpointError) -> Value
    ) throws -> Value {
        if let client = server.dependencies.settings.clients[credentials.clientID] {
            request.client?.isNamed(client.id.rawValue)
        }
        let hasSecret = credentials.method != .none
        do {
            let value = try GuardedAuthentication(server)(
                credentials, from: request.oauth?.address, body)
            if hasSecret { request.client?.isProven(by: nil) }
            return value
        } catch let error as TokenEndpointError {
            // Any other error occurs only after the secret was verified, so the client is proven.
            if hasSecret, error.error.code != .invalidClient { request.client?.isProven(by: nil) }
            throw error
        }
    }
}

extension ClientAddress {
    /// The client's address, in the form that OAuth use cases and the console use to count requests.
    package var requester: RequesterAddress { RequesterAddress(network: network, isVersion4: isVersion4) }
}
