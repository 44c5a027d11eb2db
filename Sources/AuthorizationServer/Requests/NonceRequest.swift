/// A request to `/oauth/nonce`: a native client without a backend gets a nonce for a sign-in with Apple.
public struct NonceRequest: Sendable {
    public let credentials: ClientCredentials

    /// Throws `invalid_request` or `invalid_client`.
    ///
    /// - Parameters:
    ///   - contentType: The field `Content-Type`.
    ///   - authorization: The field `Authorization`.
    ///   - query: The query of the request's target.
    public init(
        body: some Collection<UInt8>, contentType: String?, authorization: String?,
        query: (some Collection<UInt8>)?
    ) throws(TokenEndpointError) {
        let reader = try EndpointForm.read(body, contentType: contentType, query: query)
        credentials = try ClientCredentials(reader, authorization: authorization)
    }

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
