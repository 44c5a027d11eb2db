/// A request to `/oauth/device_authorization` (RFC 8628 §3.1).
public struct DeviceAuthorizationRequest: Sendable {
    public let credentials: ClientCredentials
    private let reader: ParameterReader

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
        reader = try EndpointForm.read(body, contentType: contentType, query: query)
        credentials = try ClientCredentials(reader, authorization: authorization)
    }

    /// Checks the client as the token endpoint does, and then the requested scope.
    public func authenticated(
        in clients: ClientRegistry
    ) throws(TokenEndpointError) -> (client: OAuthClient, scope: ScopeSet) {
        let client = try ClientAuthentication(clients).authenticate(credentials)
        do throws(OAuthError) {
            guard client.allowsDeviceGrant else {
                throw OAuthError(
                    .unauthorizedClient,
                    "The device authorization endpoint is only for \(GrantType.deviceCode.clients).")
            }
            try ResourceCheck(audience: client.audience).check(reader.parameters)
            let scope = try TokenParameters(reader: reader, client: client).scope()
            return (client, scope.map(client.completed) ?? client.scopes)
        } catch {
            throw TokenEndpointError(error)
        }
    }
}
