public import AuthorizationServer
import Synchronization

/// Authenticates clients, and slows the guessing of their secrets down.
public struct GuardedAuthentication: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Carries an authentication out, unless too many wrong secrets came from the same address.
    ///
    /// - Parameters:
    ///   - credentials: What is authenticated.
    ///   - address: `nil` when it is not known. Then guessing is not slowed down, because one guesser would
    ///     stop all that come the same way.
    /// - Throws: `GuessingPaused`, and the error of `authenticate`.
    public func callAsFunction<Value: Sendable>(
        _ credentials: ClientCredentials, from address: RequesterAddress?,
        _ authenticate: () throws(TokenEndpointError) -> Value
    ) throws -> Value {
        guard let address, credentials.method != .none,
            let client = server.settings.clients[credentials.clientID]
        else { return try authenticate() }
        let now = server.now()
        // Under the lock, so that guesses at the same time are counted one after the other.
        let result = server.guessing.withLock { guessing -> Result<Value, any Error> in
            if let seconds = guessing.pause(for: client.id, at: address, now: now) {
                return .failure(
                    GuessingPaused(seconds: seconds, usedBasic: credentials.method == .basic))
            }
            do throws(TokenEndpointError) {
                let value = try authenticate()
                guessing.succeeded(for: client.id, at: address)
                return .success(value)
            } catch {
                if error.guessedClient != nil { guessing.failed(for: client.id, at: address, now: now) }
                return .failure(error)
            }
        }
        return try result.get()
    }
}

/// Too many wrong secrets of a client came from one address, so none was compared.
public struct GuessingPaused: Error, Sendable, Equatable {
    /// Until a secret is compared again, at least 1.
    public let seconds: Int64
    let usedBasic: Bool

    /// What the client is told: `invalid_client`, as for a wrong secret.
    public var error: TokenEndpointError {
        TokenEndpointError(
            OAuthError(
                .invalidClient, "Too many wrong secrets came from this address; wait before the next one."),
            usedBasic: usedBasic)
    }
}
