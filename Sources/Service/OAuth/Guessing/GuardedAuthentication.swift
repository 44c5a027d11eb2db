public import AuthorizationServer
import Synchronization

/// Authenticates clients, and slows the guessing of their secrets down.
///
/// A right secret is never refused because of wrong secrets, so that a guesser at the address of the client,
/// or behind the same proxy, cannot keep the client out. A comparison costs less than a lookup, and a secret
/// has 256 random bits, so comparing each secret costs no security.
public struct GuardedAuthentication: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Carries an authentication out. While too many wrong secrets came from an address, the response to a
    /// further wrong secret requires a wait.
    ///
    /// - Parameters:
    ///   - credentials: The credentials to authenticate.
    ///   - address: `nil` when it is unknown. All unknown addresses are slowed down as one.
    /// - Throws: `GuessingPaused`, and the error of `authenticate`.
    public func callAsFunction<Value: Sendable>(
        _ credentials: ClientCredentials, from address: RequesterAddress?,
        _ authenticate: () throws(TokenEndpointError) -> Value
    ) throws -> Value {
        do throws(TokenEndpointError) {
            // A right secret does not end a pause: at a shared address the honest client would otherwise end
            // the guesser's pause again and again.
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

/// A further wrong secret of a client from an address that had sent too many.
public struct GuessingPaused: Error, Sendable, Equatable {
    /// Seconds for which wrong secrets get this response, at least 1.
    public let seconds: Int64
    let usedBasic: Bool

    /// The error for the client: `invalid_client`, as for every wrong secret.
    public var error: TokenEndpointError {
        TokenEndpointError(
            OAuthError(
                .invalidClient,
                "The client secret is wrong, as many were that came from this address; check it before the next "
                    + "request."),
            usedBasic: usedBasic)
    }
}
