import AppleAccounts
import Commits
package import Encodings
import HTTPEngine
import NIOCore
package import NIOHTTP1
import OAuth
import SignIn
import Tracing

/// Passes a request to its route: matches the route, authenticates the caller, and turns every error into a
/// response in the route's `ErrorFormat`.
///
/// The dispatcher knows nothing about sockets. Every error that a route throws becomes exactly one response,
/// so no input can end a connection without a response.
final class Dispatcher: Sendable {
    let observer: RequestObserver
    private let callers: CallerDirectory
    private let routes: Routes
    private let foreignPages: ForeignPageCheck?
    private let tracing: RequestTracing?
    /// The requests that the console shows.
    private let recent: RecentRequests?
    /// Receives the client address of each request from a browser or an OAuth client. `nil` in development,
    /// where all requests come from the local machine.
    private let noteRequester: (@Sendable (ClientAddress?, _ looksProxied: Bool) -> Void)?

    init(
        routes: Routes, callers: CallerDirectory, foreignPages: ForeignPageCheck? = nil,
        observer: RequestObserver, tracing: RequestTracing? = nil,
        recent: RecentRequests? = nil,
        noteRequester: (@Sendable (ClientAddress?, _ looksProxied: Bool) -> Void)? = nil
    ) {
        self.noteRequester = noteRequester
        (self.tracing, self.recent) = (tracing, recent)
        self.routes = routes
        self.callers = callers
        self.foreignPages = foreignPages
        self.observer = observer
    }

    /// Returns the response immediately if the route does not wait.
    ///
    /// - Parameter client: The client's address; `nil` if it is unknown.
    func handle(
        _ incoming: IncomingRequest, from client: ClientAddress?, gate: AdmissionGate
    ) -> (RequestInfo, Step<HTTPResponse>) {
        let (head, fields) = (incoming.head, incoming.fields)
        var info = RequestInfo(
            method: head.method,
            requestID: RequestID.accept(fields.requestID) ?? RequestID.make(),
            startedAt: incoming.startedAt)
        if let recent { info.notes = RequestNotes(incoming, keepsExchange: recent.keepsExchanges) }
        do {
            guard let target = RequestTarget(head.uri) else { throw Problem(.requestMalformed) }
            let match: RouteTable.Match
            do {
                match = try RouteTable.all.match(head.method, target.path) { $0.isServed(routes) }
            } catch {
                info.errorFormat = routes.errorFormat(at: target, headers: head.headers)
                if error.code == ProblemCode.notFound.rawValue {
                    info.errorFormat = routes.errorFormat(
                        where: target, head, otherwise: info.errorFormat)
                }
                throw error
            }
            let endpoint = match.endpoint
            info.endpoint = endpoint
            info.errorFormat = routes.errorFormat(of: endpoint, at: target, headers: head.headers)
            if let foreignPages { try foreignPages.check(head, to: endpoint) }
            // Rejects a request before authenticating the caller and reading the body, because both cost more
            // than a rejection.
            if case .reject(let seconds) = gate.decide(endpoint.priority, at: incoming.startedAt) {
                info.isRejected = true
                let isProblem = if case .problem = info.errorFormat { true } else { false }
                let response =
                    isProblem
                    ? OverloadResponse.make(requestID: info.requestID, retryAfter: seconds)
                    : .error(
                        Problem(.overloaded, retryAfter: seconds), as: info.errorFormat,
                        requestID: info.requestID)
                return (info, .now(response))
            }
            // The route table accepts OPTIONS only for calls that web pages may read, so this is a preflight.
            if head.method == .OPTIONS { return (info, .now(CrossOriginAccess.preflight)) }
            let caller: APIKey? =
                switch endpoint.caller {
                case .apiKey: try callers.caller(presenting: fields.authorization)
                case .metricsReader: try callers.metricsReader(presenting: fields.authorization)
                case .anyone, .oauthClient: nil
                }
            info.caller = caller?.name
            info.trace = tracing?.begin(
                head.headers, isTrusted: caller != nil, startedAt: incoming.startedAt)
            switch endpoint.body {
            case .none: break
            case .json: guard fields.isJSON else { throw Problem(.contentTypeUnsupported) }
            case .form: guard fields.isForm else { throw Problem(.contentTypeUnsupported) }
            // These calls check the content type themselves, because they have their own error responses.
            case .pageForm, .oauthForm, .securityEventToken: break
            }
            var request = HTTPRequest(
                requestID: info.requestID, parameter: try Self.decode(match.parameter),
                secondParameter: try Self.decode(match.secondParameter), query: target.query,
                body: incoming.bodyBytes,
                ifNoneMatch: fields.ifNoneMatch, cookie: fields.cookie, scope: caller?.scope ?? .all,
                caller: caller?.name)
            request.trace = info.trace
            switch endpoint.fields {
            case .ordinary: break
            case .oauth:
                request.oauth = OAuthFields(
                    authorization: fields.authorization, contentType: fields.contentType,
                    address: client?.requester, userAgent: head.headers.first(name: "user-agent"))
            case .browser:
                request.browser = BrowserFields(
                    head.headers, sendsForm: fields.isForm,
                    address: client?.requester)
            }
            if endpoint.fields != .ordinary {
                noteRequester?(client, endpoint.fields == .browser || fields.forwardedFor != nil)
                let client = ObservedClient()
                (info.client, request.client) = (client, client)
            }
            return (info, try withOrigin(of: info) { try endpoint.handle(routes, request) })
        } catch {
            // A request that was refused before authentication has no trace yet, so its trace begins here.
            if let tracing, info.trace == nil {
                info.trace = tracing.begin(
                    head.headers, isTrusted: info.caller != nil, startedAt: incoming.startedAt)
            }
            return (info, .now(problem(error, info)))
        }
    }

    private static func decode(_ segment: Substring?) throws(Problem) -> String? {
        guard let segment else { return nil }
        do throws(PercentEncoding.Failure) {
            return try PercentEncoding.decode(segment)
        } catch {
            throw error.problem(.parameterMalformed)
        }
    }

    /// Performs a step's work. Converts an error to its response.
    func next(
        after work: @Sendable () async throws -> Step<HTTPResponse>, for info: RequestInfo
    ) async -> Step<HTTPResponse> {
        do {
            return try await AuditOrigin.$current.withValue(origin(of: info)) {
                guard let context = info.trace?.context else { return try await work() }
                // Makes the context task-local, so that later calls in this task find the request's span.
                return try await ServiceContext.withValue(context) { try await work() }
            }
        } catch {
            return .now(problem(error, info))
        }
    }

    /// Returns the step that follows a committed or refused command. Converts an error to its response.
    func step(_ next: () throws -> Step<HTTPResponse>, for info: RequestInfo) -> Step<HTTPResponse> {
        do {
            return try withOrigin(of: info, next)
        } catch {
            return .now(problem(error, info))
        }
    }

    /// Runs `body` on the event loop. Records the request as the origin of its grant commands, for the audit
    /// log. Other calls write audit rows only in tasks, where `next` records the origin.
    private func withOrigin<Value>(of info: RequestInfo, _ body: () throws -> Value) rethrows -> Value {
        guard info.endpoint?.fields == .oauth else { return try body() }
        return try AuditOrigin.$current.withValue(origin(of: info), operation: body)
    }

    private func origin(of info: RequestInfo) -> AuditOrigin {
        AuditOrigin(.apiKey(info.caller), requestID: info.requestID)
    }

    /// Returns the response to a request that exceeds its time limit. Only database work can take that long.
    func unavailable(_ info: RequestInfo) -> HTTPResponse {
        refusal(.storageUnavailable, info)
    }

    /// Returns the response to a request that is incomplete or arrives too slowly.
    ///
    /// - Parameter target: The target in the request line; `nil` if the request line did not arrive.
    func refusal(_ code: ProblemCode, target: String? = nil, _ info: RequestInfo) -> HTTPResponse {
        let target = target.flatMap { RequestTarget($0) }
        let format = target.map { routes.errorFormat(at: $0) } ?? info.errorFormat
        return .error(Problem(code), as: format, requestID: info.requestID)
    }

    private func problem(_ error: any Error, _ info: RequestInfo) -> HTTPResponse {
        info.notes?.refused(error)
        if let response = HTTPResponse.oauthError(error) { return response }
        let problem = Problem(describing: error)
        if problem.code == ProblemCode.internalError.rawValue {
            observer.recordUnexpected(error, info)
        }
        return .error(problem, as: info.errorFormat, requestID: info.requestID)
    }
}

extension ForeignPageCheck {
    /// Checks a request's host and origin. Throws `host_refused` or `origin_refused` if another site may have
    /// sent it.
    func check(_ head: HTTPRequestHead, to endpoint: Endpoint) throws(Problem) {
        let host = head.headers["host"]
        do throws(ForeignPageRefusal) {
            try check(host: host)
            if endpoint.method != .get, endpoint.origins == .own {
                try check(RequestSender(head.headers))
            }
        } catch {
            switch error {
            case .host: throw Problem(.hostRefused)
            case .origin: throw Problem(.originRefused)
            }
        }
    }
}

extension RequestSender {
    package init(_ headers: HTTPHeaders) {
        self.init(origin: headers["origin"], site: headers["sec-fetch-site"], host: headers["host"])
    }
}
