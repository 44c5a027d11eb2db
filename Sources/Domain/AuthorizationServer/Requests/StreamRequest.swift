/// The credentials at the endpoints of a client's event stream. Their bodies are JSON, so only HTTP Basic is
/// accepted.
public struct StreamRequest: Sendable, Confidential {
    public let credentials: ClientCredentials

    /// Throws `invalid_client`.
    ///
    /// - Parameter authorization: The field `Authorization`.
    public init(authorization: String?) throws(TokenEndpointError) {
        guard let basic = authorization.flatMap({ BasicCredentials($0) }) else {
            throw TokenEndpointError(
                OAuthError(.invalidClient, "Send client ID and secret by HTTP Basic."), usedBasic: true)
        }
        credentials = ClientCredentials(basic)
    }

    /// Authenticates the client. Throws `invalid_client`, also for a client without a secret: client IDs are
    /// public, and events name users.
    public func client(in clients: ClientRegistry) throws(TokenEndpointError) -> OAuthClient {
        let client = try ClientAuthentication(clients).authenticate(credentials)
        guard !client.secretHashes.isEmpty else {
            throw TokenEndpointError(
                OAuthError(.invalidClient, "Only clients with a secret can read events."), usedBasic: true)
        }
        return client
    }
}
