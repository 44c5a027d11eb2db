/// The rule of RFC 6749 §2.3 and §3.2.1: who must prove what about the client.
public struct ClientAuthentication: Sendable {
    let clients: ClientRegistry

    public init(_ clients: ClientRegistry) {
        self.clients = clients
    }

    /// Returns the client, or throws `invalid_client`.
    ///
    /// The time that it takes does not say whether there is such a client: a secret is hashed in any case.
    public func authenticate(_ credentials: ClientCredentials) throws(TokenEndpointError) -> OAuthClient {
        let usedBasic = credentials.method == .basic
        guard let client = clients[credentials.clientID] else {
            _ = credentials.secret.map(OAuthClientSecretHash.ofNothing.matches)
            throw TokenEndpointError(
                OAuthError(.invalidClient, "Client ID or secret is wrong; check both."), usedBasic: usedBasic)
        }
        guard let secret = credentials.secret else {
            guard client.secretHashes.isEmpty, !client.isConfidential else {
                throw TokenEndpointError(
                    OAuthError(.invalidClient, "This client must authenticate; send its secret."),
                    usedBasic: usedBasic)
            }
            return client
        }
        // A public client that sends a secret it does not have is wrong about what protects it. There is nothing
        // to guess, and client IDs are no secrets, so the answer says what is wrong.
        guard client.isConfidential || !client.secretHashes.isEmpty else {
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
