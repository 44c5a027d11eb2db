/// A request to `/oauth/nonce`: a native client without a backend gets a nonce for a sign-in with Apple.
public struct NonceRequest: ClientFormRequest {
    public let form: ClientForm

    public init(_ form: ClientForm) { self.form = form }

    /// Authenticates the client. Throws `unauthorized_client` for a client that cannot use the nonce.
    public func client(in clients: ClientRegistry) throws(TokenEndpointError) -> OAuthClient {
        let client = try ClientAuthentication(clients).authenticate(credentials)
        guard GrantType.tokenExchange.isOffered(client) else {
            throw TokenEndpointError(
                .unauthorizedClient, "Nonces are only for \(GrantType.tokenExchange.clients).")
        }
        return client
    }
}
