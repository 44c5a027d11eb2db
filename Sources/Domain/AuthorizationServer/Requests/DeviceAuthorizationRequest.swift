/// A request to `/oauth/device_authorization` (RFC 8628 §3.1).
public struct DeviceAuthorizationRequest: ClientFormRequest {
    public let form: ClientForm

    public init(_ form: ClientForm) { self.form = form }

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
            try ResourceCheck(audience: client.audience).check(form.reader.parameters)
            let scope = try TokenParameters(reader: form.reader, client: client).scope()
            return (client, scope.map(client.completed) ?? client.scopes)
        } catch {
            throw TokenEndpointError(error)
        }
    }
}
