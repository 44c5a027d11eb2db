import AppleAccounts
import AuthorizationServer
import OAuth

/// Authenticates the clients of requests to the endpoints of OAuth.
struct ClientAuthenticating: Sendable {
    let server: OAuthServer

    /// Carries an authentication out, and records the client for the log.
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
            // Any other error concerns the checks after the secret.
            if hasSecret, error.error.code != .invalidClient { request.client?.isProven(by: nil) }
            throw error
        }
    }
}
