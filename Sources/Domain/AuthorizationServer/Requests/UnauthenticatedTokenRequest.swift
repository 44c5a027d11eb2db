/// A well-formed request to `/oauth/token`. The client is not authenticated.
public struct UnauthenticatedTokenRequest: ClientFormRequest {
    public let form: ClientForm
    /// The grant type that the request names; `nil` for an unknown grant type.
    public var grantType: GrantType? { GrantType.named(in: form.reader) }

    public init(_ form: ClientForm) { self.form = form }

    /// Checks the client, and then its parameters.
    public func authenticated(in clients: ClientRegistry) throws(TokenEndpointError) -> TokenRequest {
        let client = try ClientAuthentication(clients).authenticate(credentials)
        do throws(OAuthError) {
            let (type, grant) = try GrantType.read(TokenParameters(reader: form.reader, client: client))
            try ResourceCheck(audience: client.audience).check(form.reader.parameters)
            return TokenRequest(
                client: client, grantType: type, grant: grant, app: AppProofParameters(form.reader))
        } catch {
            throw TokenEndpointError(error)
        }
    }
}
