public import AsyncHTTPClient
import Synchronization

/// Calls Apple's token, revoke and migration endpoints over HTTP.
///
/// Each call is made once, with two exceptions that are safe. When Apple refuses the client secret
/// (`invalid_client`, which it checks before everything else), the secret of the next key is tried. And a
/// call that only reads, or that can be repeated, is made once more when its connection was lost.
///
/// The HTTP client is shared. Its owner creates it with `HTTPClient.Configuration.apple` and shuts it down.
public final class AppleTokenClient: AppleTokenService, AppleMigrationService {
    let endpoints: AppleEndpoints
    let migrationAccess = Mutex(MigrationAccess())
    let uptime: @Sendable () -> Duration
    private let transport: AppleTransport
    private let secrets: any ClientSecretSource
    /// One circuit breaker for each endpoint, so that failures of the revoke endpoint do not stop the
    /// exchange of codes, which expire after five minutes.
    private let breakers = Mutex<[Endpoint: CircuitBreaker]>([:])

    enum Endpoint: Hashable {
        case token, revoke, migration
    }

    public init(
        client: HTTPClient, endpoints: AppleEndpoints = .apple, secrets: any ClientSecretSource,
        limits: AppleTimeLimits = AppleTimeLimits(), clock: AppleClock? = nil,
        uptime: @escaping @Sendable () -> Duration = SystemUptime.elapsed
    ) {
        transport = AppleTransport(client: client, total: limits.total, clock: clock)
        (self.endpoints, self.secrets, self.uptime) = (endpoints, secrets, uptime)
    }

    public func exchange(code: String, clientID: String, redirectURI: String?) async throws(AppleCallError)
        -> AppleTokenResponse
    {
        var fields = [(name: "grant_type", value: "authorization_code"), (name: "code", value: code)]
        if let redirectURI { fields.append((name: "redirect_uri", value: redirectURI)) }
        return try await call(.token, fields, clientID: clientID, read: AppleTokenResponse.init)
    }

    @discardableResult
    public func validate(refreshToken: String, clientID: String) async throws(AppleCallError)
        -> AppleTokenResponse
    {
        let fields = [
            (name: "grant_type", value: "refresh_token"), (name: "refresh_token", value: refreshToken),
        ]
        return try await call(.token, fields, clientID: clientID, read: AppleTokenResponse.init)
    }

    public func revoke(refreshToken: String, clientID: String) async throws(AppleCallError) {
        let fields = [
            (name: "token", value: refreshToken), (name: "token_type_hint", value: "refresh_token"),
        ]
        try await repeating { () async throws(AppleCallError) in
            try await call(.revoke, fields, clientID: clientID) { response throws(AppleCallError) in
                guard response.status == 200 else { throw response.failure() }
            }
        }
    }

    /// Makes a call that can be repeated, and makes it once more when the connection was lost: an idle
    /// connection can be closed by the server just when it is used.
    func repeating<Result: Sendable>(_ call: () async throws(AppleCallError) -> Result)
        async throws(AppleCallError) -> Result
    {
        do throws(AppleCallError) {
            return try await call()
        } catch {
            guard error.code == .connectionLost, !Task.isCancelled else { throw error }
            return try await call()
        }
    }

    /// Makes one call, with each secret of the client ID in turn until Apple accepts one.
    func call<Result: Sendable>(
        _ endpoint: Endpoint, _ fields: [(name: String, value: String)], clientID: String,
        bearer: String? = nil, read: (AppleResponse) throws(AppleCallError) -> Result
    ) async throws(AppleCallError) -> Result {
        var refusal = AppleCallError(.noSigningKey)
        for secret in try secrets.secrets(for: clientID) {
            let identified =
                [(name: "client_id", value: clientID), (name: "client_secret", value: secret.text)] + fields
            do throws(AppleCallError) {
                let result = try await guarded(endpoint, identified, bearer: bearer, read: read)
                secrets.accepted(secret, for: clientID)
                return result
            } catch {
                refusal = error
                if error.code == .rejected, error.appleError == .invalidClient { continue }
                // Apple checks the secret first, so any other refusal means that the secret was accepted.
                if error.code == .rejected { secrets.accepted(secret, for: clientID) }
                throw error
            }
        }
        throw refusal
    }

    private func guarded<Result: Sendable>(
        _ endpoint: Endpoint, _ fields: [(name: String, value: String)], bearer: String?,
        read: (AppleResponse) throws(AppleCallError) -> Result
    ) async throws(AppleCallError) -> Result {
        let admission = breakers.withLock { $0[endpoint, default: CircuitBreaker()].admit(at: uptime()) }
        if case .refuse(let retryAfter) = admission {
            throw AppleCallError(.circuitOpen, retryAfter: retryAfter)
        }
        do throws(AppleCallError) {
            let result = try read(try await transport.post(url(of: endpoint), fields, bearer: bearer))
            end(endpoint, admission, .answered)
            return result
        } catch {
            end(endpoint, admission, Task.isCancelled ? .abandoned : CircuitBreaker.Outcome(error.code))
            throw error
        }
    }

    private func end(
        _ endpoint: Endpoint, _ admission: CircuitBreaker.Admission, _ outcome: CircuitBreaker.Outcome
    ) {
        breakers.withLock { $0[endpoint, default: CircuitBreaker()].end(admission, outcome, at: uptime()) }
    }

    private func url(of endpoint: Endpoint) -> String {
        switch endpoint {
        case .token: endpoints.token
        case .revoke: endpoints.revoke
        case .migration: endpoints.migration
        }
    }
}

extension CircuitBreaker.Outcome {
    fileprivate init(_ code: AppleCallError.Code) {
        switch code {
        case .unreachable, .timedOut, .connectionLost, .responseUnusable, .serverFailed: self = .failed
        // A throttled request got a response. Apple throttles refresh tokens per user.
        case .throttled, .rejected: self = .answered
        case .circuitOpen, .noSigningKey, .signingFailed: self = .abandoned
        }
    }
}
