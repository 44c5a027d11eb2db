import AppleAccounts
public import AuthorizationServer
import Commits
import SecurityEvents
import SignIn

/// `POST /v1/google/security-events`: Google's events about linked Google accounts (RISC).
public struct SecurityEventReceiver: Sendable {
    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// Verifies the token, applies its events, and stores it. Returns when the transaction is durable. A
    /// repeated `jti` changes nothing.
    ///
    /// - Throws: `SecurityEventError`; `KeySetError` when Google's keys are unavailable; `StorageError`,
    ///   `OverloadedError`.
    public func receive(_ token: String) async throws -> GoogleEventReceipt {
        let now = server.now()
        let event = try await GoogleEventToken(
            token, settings: server.dependencies.google,
            clients: server.settings.clients.clients, keys: server.dependencies.googleEventKeys, at: now)
        return try await server.dependencies.commits.submit(
            GoogleEventCommand(
                jti: event.jti, payload: Array(token.utf8), events: event.events,
                verificationState: event.verificationState, receivedAt: now))
    }
}
