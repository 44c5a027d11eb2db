import AppleAccounts
import AuthorizationServer
import Commits
import HTTPEngine
import NIOHTTP1
import OAuth
import SignIn
import StrictJSON

/// The token, revocation, introspection and UserInfo endpoints (RFC 6749 §3.2, RFC 7009, RFC 7662, OpenID
/// Connect Core §5.3).
final class OAuthTokenRoutes: Sendable {
    let server: OAuthServer
    private let callers: CallerDirectory
    let authentication: ClientAuthenticating
    private let metrics: OAuthMetrics
    private let refusals: TokenRefusals

    init(
        server: OAuthServer, callers: CallerDirectory, authentication: ClientAuthenticating,
        metrics: OAuthMetrics, refusals: TokenRefusals
    ) {
        (self.server, self.callers, self.metrics) = (server, callers, metrics)
        (self.authentication, self.refusals) = (authentication, refusals)
    }

    /// Handles `POST /oauth/token`.
    func issue(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        try server.dependencies.commits.requireCapacity()
        var type: GrantType?
        let token: TokenRequest
        do {
            let unauthenticated: UnauthenticatedTokenRequest = try authentication.form(request)
            type = unauthenticated.grantType
            token = try authentication(unauthenticated, request)
        } catch {
            throw refusals.noted(error, of: type, request)
        }
        return try response(to: token, request)
    }

    private func response(to token: TokenRequest, _ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let (type, client) = (token.grantType, token.client.id)
        return try Step.mappingErrors { [self] error in
            metrics.count(type, error is OAuthError ? .refused : .failed, of: client)
            return refusals.noted(error, of: type, request)
        } of: {
            try TokenEndpoint(server).response(token)
        }.map { [self] response in
            switch response {
            case .tokens(let tokens):
                metrics.count(type, .issued, of: client)
                return .oauth(.ok, tokens.json(reservingCapacity: 2048))
            case .linking(let response):
                metrics.count(type, .answered, of: client)
                if let reason = response.reason { refusals.note(reason, of: type, request) }
                return .oauth(
                    HTTPResponseStatus(statusCode: response.status),
                    response.json(explains: refusals.areExplained))
            }
        }
    }

    /// Handles `POST /oauth/nonce`.
    func mintNonce(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let unauthenticated: NonceRequest = try authentication.form(request)
        _ = try authentication(unauthenticated, request)
        let minted = server.dependencies.signIn.mintNonce()
        let nonce = ClientNonce(minted: minted, now: server.dependencies.now())
        return .now(.oauth(.created, nonce.json()))
    }

    /// Handles `POST /oauth/revoke`: responds with 200 even for unknown tokens and for other clients' tokens.
    func revoke(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        try server.dependencies.commits.requireCapacity()
        let question = try question(.revocation, request, hasAPIKey: false)
        guard let client = try authenticated(question, request) else { throw Self.noClient }
        return .later { [server] in
            try await TokenRevocation(server).revoke(question.token, of: client)
            return .oauth(.ok, Array("{}".utf8))
        }
    }

    /// Handles `GET /oauth/revoke`: explains the endpoint to developers who open it in a browser.
    func explainRevocation() throws -> Step<HTTPResponse> {
        throw OAuthError(
            .invalidRequest,
            "Send POST with the parameters token and client_id, and the client secret if there is one.")
    }

    /// Handles `POST /oauth/introspect`.
    func introspect(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let (question, caller) = try introspection(request)
        return .later { [server, metrics] in
            let description = try await TokenIntrospection(server).description(
                of: question.token, for: caller)
            metrics.countIntrospection(isActive: description != nil, of: caller.client)
            return .oauth(.ok, (description ?? .inactive).json(reservingCapacity: 768))
        }
    }

    private func introspection(
        _ request: HTTPRequest
    ) throws -> (TokenQuestion, TokenIntrospection.Caller) {
        let authorization = request.oauth?.authorization
        if authorization.flatMap({ BearerField($0) }) != nil {
            let caller = try callers.caller(presenting: authorization)
            if let caller { request.client?.isProven(by: caller.name) }
            let question = try question(.introspection, request, hasAPIKey: true)
            return (question, .apps(caller?.scope ?? .all))
        }
        if let (name, scope) = authorization.flatMap(keyInBasic) {
            request.client?.isProven(by: name)
            return (try question(.introspection, request, hasAPIKey: true), .apps(scope))
        }
        // In development without API keys, any caller may introspect.
        if callers.isOpen, authorization == nil,
            let question = try? question(.introspection, request, hasAPIKey: true),
            (try? self.question(.introspection, request, hasAPIKey: false)) == nil
        {
            return (question, .apps(.all))
        }
        let question = try question(.introspection, request, hasAPIKey: false)
        guard let client = try authenticated(question, request) else { throw Self.noClient }
        return (question, .client(client))
    }

    /// Returns the name and apps of an API key sent by HTTP Basic, with the key's name as the user name. Many
    /// resource servers support no other method (RFC 7662 §2.1). Returns `nil` for any other `Authorization`
    /// header, because it contains a client's credentials.
    private func keyInBasic(_ authorization: String) -> (name: String?, scope: AppScope)? {
        guard let basic = BasicCredentials(authorization), let secret = basic.secret else { return nil }
        // In development without API keys, the service accepts any name that is not a client's ID.
        if callers.isOpen {
            return server.dependencies.settings.clients[basic.clientID] == nil ? (nil, .all) : nil
        }
        return callers.caller(named: basic.clientID, presenting: secret).map { ($0.name, $0.scope) }
    }

    /// Handles `GET` and `POST /oauth/userinfo`.
    func userInfo(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let token = try accessToken(request)
        return .later { [server] in
            do {
                let json = try await UserInfo(server).claims(accessToken: token) { client in
                    request.client?.isNamed(client.rawValue)
                }
                return .oauth(.ok, json)
            } catch let error as OAuthError {
                throw BearerRefusal(error: error, isTokenMissing: false)
            }
        }
    }

    /// Returns the token from the `Authorization` header (RFC 6750 §2.1) or from the form (§2.2). Refuses a
    /// token in the query, because URLs end up in logs.
    private func accessToken(_ request: HTTPRequest) throws -> String {
        let query = try? FormParameters(parsing: Array((request.query ?? "").utf8), as: .query)
        guard let query, query["access_token"] == .absent else {
            throw BearerRefusal.malformed("Send the access token in the Authorization field.")
        }
        let posted = try postedToken(request)
        guard let authorization = request.oauth?.authorization else {
            guard let posted else { throw BearerRefusal.noToken }
            return posted
        }
        guard let field = BearerField(authorization) else { throw BearerRefusal.noToken }
        // RFC 6750 §2: a request must not use both methods.
        guard posted == nil else {
            throw BearerRefusal.malformed("Send the access token once, in the Authorization field.")
        }
        return String(field.token)
    }

    /// Returns the token from a form. Returns `nil` for any other body.
    private func postedToken(_ request: HTTPRequest) throws -> String? {
        guard EndpointForm.isForm(request.oauth?.contentType),
            let form = try? FormParameters(parsing: request.body, as: .form)
        else { return nil }
        switch form["access_token"] {
        case .text(let token): return token
        case .absent: return nil
        case .repeated, .malformed:
            throw BearerRefusal.malformed("The parameter access_token must come once.")
        }
    }

    private static let noClient = TokenEndpointError(.invalidClient, "The request names no client.")

    private func question(
        _ endpoint: TokenQuestion.Endpoint, _ request: HTTPRequest, hasAPIKey: Bool
    ) throws(TokenEndpointError) -> TokenQuestion {
        try TokenQuestion(
            endpoint, body: request.body, contentType: request.oauth?.contentType,
            authorization: request.oauth?.authorization, hasAPIKey: hasAPIKey, query: request.query?.utf8)
    }

    private func authenticated(_ question: TokenQuestion, _ request: HTTPRequest) throws -> OAuthClient? {
        let clients = server.dependencies.settings.clients
        guard let credentials = question.credentials else { return nil }
        return try authentication(credentials, request) { () throws(TokenEndpointError) in
            try question.client(in: clients)
        }
    }
}

/// App Attest for native clients without a backend.
extension OAuthTokenRoutes {
    /// Handles `POST /oauth/app-attest/challenges`.
    func mintChallenge(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let form: AppAttestRequest = try authentication.form(request)
        let client = try authentication(form, request)
        let challenge = try ClientAttestation(server).challenge(for: try form.purpose(), of: client)
        let body = ClientChallenge(challenge: challenge, now: server.dependencies.now())
        return .now(.oauth(.created, body.json()))
    }

    /// Handles `POST /oauth/app-attest/keys`.
    func registerKey(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        // Checks the capacity first, because a verification that cannot be committed would be wasted work.
        try server.dependencies.signIn.commits.requireCapacity()
        let body: AppAttestRequest = try authentication.form(request)
        let client = try authentication(body, request)
        let pending = try ClientAttestation(server).registerKey(
            try body.attestation(), of: client, from: request.oauth?.address)
        return pending.map { registration in
            .oauth(registration.isNew ? .created : .ok, registration.json())
        }
    }
}

/// Reports the reasons for refused token requests to operators, in the log and in the metrics. In
/// development, the client receives the reasons too.
struct TokenRefusals: Sendable {
    private let labels: ClientLabels
    /// Counters for each client ID and each reason.
    private let cells: [String: [TokenRefusalReason: CounterCell]]
    /// True in development, where responses contain the reason.
    let areExplained: Bool

    init(_ registry: MetricsRegistry, areExplained: Bool, labels: ClientLabels) {
        self.labels = labels
        cells = Dictionary(
            uniqueKeysWithValues: labels.all.map { client in
                let reasons = TokenRefusalReason.allCases.map { reason in
                    let cell = registry.counter(
                        "siwa_oauth_token_refusals_total",
                        [("client", client), ("reason", reason.rawValue)],
                        help: "Refused token requests by the client that they name, and by reason.")
                    return (reason, cell)
                }
                return (client, Dictionary(uniqueKeysWithValues: reasons))
            })
        self.areExplained = areExplained
    }

    /// Counts a refusal, and records it for its request's log line.
    ///
    /// - Parameter type: The grant type of the request; `nil` for an unknown grant type.
    func note(_ reason: TokenRefusalReason, of type: GrantType?, _ request: HTTPRequest) {
        cells[labels.label(of: request.client?.name)]?[reason]?.increment(by: 1)
        request.client?.isRefused(reason.rawValue, grantType: type?.label)
    }

    /// Records the reason for an error, and returns the error to send to the client.
    func noted(_ error: any Error, of type: GrantType?, _ request: HTTPRequest) -> any Error {
        switch error {
        case let error as OAuthError:
            guard let reason = error.reason else { return error }
            note(reason, of: type, request)
            return areExplained ? error.explained : error
        case let error as TokenEndpointError:
            guard let reason = error.error.reason else { return error }
            note(reason, of: type, request)
            guard areExplained else { return error }
            return TokenEndpointError(error.error.explained, usedBasic: error.usedBasic)
        case let paused as GuessingPaused:
            note(.clientNotAuthenticated, of: type, request)
            return paused
        default: return error
        }
    }
}
