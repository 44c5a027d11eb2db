public import AsyncHTTPClient
import StrictJSON
import Synchronization

/// Calls Apple's token, revoke and migration endpoints over HTTP.
///
/// Each call is made once, with two safe exceptions. If Apple refuses the client secret (`invalid_client`,
/// which Apple checks first), the client tries the next key's secret. If the connection is lost, it repeats
/// the call once, but only a call that is safe to repeat.
///
/// The HTTP client is shared; its owner creates it with `HTTPClient.Configuration.apple` and shuts it down.
public final class AppleTokenClient: AppleTokenService, AppleMigrationService {
    let endpoints: AppleEndpoints
    let migrationAccess = Mutex(MigrationAccess())
    let uptime: @Sendable () -> Duration
    private let transport: AppleTransport
    private let secrets: any ClientSecretSource
    /// One circuit breaker per endpoint, so that failures of the revoke endpoint do not block code exchanges,
    /// which must succeed within five minutes.
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

    /// Makes a repeatable call, and repeats it once if the connection is lost, because the server can close
    /// an idle connection just as the client uses it.
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

    /// Makes one call, trying each of the client ID's secrets until Apple accepts one.
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
        // Throttling is treated as a response, because Apple throttles refresh tokens per user.
        case .throttled, .rejected: self = .answered
        case .circuitOpen, .noSigningKey, .signingFailed: self = .abandoned
        }
    }
}

extension AppleTokenClient {
    public func transferSubject(of subject: String, to recipientTeam: String, clientID: String)
        async throws(AppleCallError) -> String
    {
        let fields = [(name: "sub", value: subject), (name: "target", value: recipientTeam)]
        return try await migrate(fields, clientID: clientID) { response throws(AppleCallError) in
            guard let transferSubject = try response.json()["transfer_sub"]?.string,
                (1...255).contains(transferSubject.utf8.count)
            else { throw AppleCallError(.responseUnusable, detail: "no transfer_sub") }
            return transferSubject
        }
    }

    public func recipient(ofTransferSubject transferSubject: String, clientID: String)
        async throws(AppleCallError) -> MigratedUser
    {
        try await migrate(
            [(name: "transfer_sub", value: transferSubject)], clientID: clientID, read: MigratedUser.init)
    }

    private func migrate<Result: Sendable>(
        _ fields: [(name: String, value: String)], clientID: String,
        read: (AppleResponse) throws(AppleCallError) -> Result
    ) async throws(AppleCallError) -> Result {
        try await repeating { () async throws(AppleCallError) in
            if let held = migrationAccess.withLock({ $0.token(for: clientID, at: uptime()) }) {
                do throws(AppleCallError) {
                    return try await call(.migration, fields, clientID: clientID, bearer: held, read: read)
                } catch {
                    // Apple has no separate error for an access token that expired early, so this repeats the
                    // call with a new token. If the refusal was about the user, Apple refuses the second call
                    // too.
                    guard error.code == .rejected,
                        [.invalidClient, .invalidGrant, .other].contains(error.appleError)
                    else { throw error }
                    migrationAccess.withLock { $0.drop(held, for: clientID) }
                }
            }
            let token = try await migrationToken(for: clientID)
            return try await call(.migration, fields, clientID: clientID, bearer: token, read: read)
        }
    }

    /// Requests a new migration endpoint access token (`client_credentials`).
    private func migrationToken(for clientID: String) async throws(AppleCallError) -> String {
        let fields = [
            (name: "grant_type", value: "client_credentials"), (name: "scope", value: "user.migration"),
        ]
        let token = try await call(.token, fields, clientID: clientID, read: AppleTokenResponse.init)
        migrationAccess.withLock { $0.put(token, for: clientID, at: uptime()) }
        return token.accessToken
    }
}

/// Cached migration endpoint access tokens, by client ID.
struct MigrationAccess {
    private var held: [String: (token: String, until: Duration)] = [:]

    /// Returns a token that will not expire soon; `nil` if there is none.
    func token(for clientID: String, at now: Duration) -> String? {
        guard let entry = held[clientID], now < entry.until else { return nil }
        return entry.token
    }

    /// Caches a token for 90% of its lifetime, so that no token expires during a call.
    mutating func put(_ token: AppleTokenResponse, for clientID: String, at now: Duration) {
        held[clientID] = (token.accessToken, now + token.expiresIn * 9 / 10)
    }

    mutating func drop(_ token: String, for clientID: String) {
        if held[clientID]?.token == token { held[clientID] = nil }
    }
}
