public import AuthorizationServer
import Synchronization

/// Authenticates clients, and slows the guessing of their secrets down.
///
/// A right secret is never refused because of wrong ones, so that a guesser at the address of the client, or
/// behind the same proxy, cannot keep the client out. A comparison costs less than a lookup, and a secret has
/// 256 random bits, so nothing is lost by comparing each one.
public struct GuardedAuthentication: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Carries an authentication out. While too many wrong secrets came from an address, a further wrong one
    /// is told to wait.
    ///
    /// - Parameters:
    ///   - credentials: What is authenticated.
    ///   - address: `nil` when it is not known. All unknown addresses are slowed down as one.
    /// - Throws: `GuessingPaused`, and the error of `authenticate`.
    public func callAsFunction<Value: Sendable>(
        _ credentials: ClientCredentials, from address: RequesterAddress?,
        _ authenticate: () throws(TokenEndpointError) -> Value
    ) throws -> Value {
        do throws(TokenEndpointError) {
            // A right secret does not end a pause: at one address the honest client would end that of the
            // guesser again and again.
            return try authenticate()
        } catch {
            guard let client = error.guessedClient else { throw error }
            let now = server.now()
            // Under one lock, so that guesses at the same time are counted one after the other.
            let pause = server.guessing.withLock { guessing -> Int64? in
                if let seconds = guessing.pause(for: client, at: address, now: now) { return seconds }
                guessing.failed(for: client, at: address, now: now)
                return nil
            }
            guard let pause else { throw error }
            throw GuessingPaused(seconds: pause, usedBasic: credentials.method == .basic)
        }
    }
}

/// Too many wrong secrets of a client came from one address, and this was one more.
public struct GuessingPaused: Error, Sendable, Equatable {
    /// For how long a wrong secret gets this answer, at least 1.
    public let seconds: Int64
    let usedBasic: Bool

    /// What the client is told: `invalid_client`, as for every wrong secret.
    public var error: TokenEndpointError {
        TokenEndpointError(
            OAuthError(
                .invalidClient,
                "The client secret is wrong, as many were that came from this address; check it before the next "
                    + "request."),
            usedBasic: usedBasic)
    }
}
