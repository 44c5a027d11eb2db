/// Authenticates the client of a request (RFC 6749 §2.3 and §3.2.1).
public struct ClientAuthentication: Sendable {
    let clients: ClientRegistry

    public init(_ clients: ClientRegistry) {
        self.clients = clients
    }

    /// Returns the client, or throws `invalid_client`.
    ///
    /// The duration does not reveal whether the client exists: a secret is hashed in any case.
    public func authenticate(_ credentials: ClientCredentials) throws(TokenEndpointError) -> OAuthClient {
        let usedBasic = credentials.method == .basic
        guard let client = clients[credentials.clientID] else {
            _ = credentials.secret.map(OAuthClientSecretHash.ofNothing.matches)
            throw TokenEndpointError(
                OAuthError(.invalidClient, "Client ID or secret is wrong; check both."), usedBasic: usedBasic)
        }
        guard let secret = credentials.secret else {
            guard client.secretHashes.isEmpty, !client.kind.isConfidential else {
                throw TokenEndpointError(
                    OAuthError(.invalidClient, "This client must authenticate; send its secret."),
                    usedBasic: usedBasic)
            }
            return client
        }
        // A public client that sends a secret it does not have misunderstands its own protection. There is no
        // secret to guess, and client IDs are public, so the response names the mistake.
        guard client.kind.isConfidential || !client.secretHashes.isEmpty else {
            throw TokenEndpointError(
                OAuthError(.invalidClient, "This client has no secret; leave it out."), usedBasic: usedBasic)
        }
        guard client.accepts(secret: secret) else {
            throw TokenEndpointError(
                OAuthError(.invalidClient, "Client ID or secret is wrong; check both."), usedBasic: usedBasic,
                guessedClient: client.id)
        }
        return client
    }
}
