/// A well-formed request to `/oauth/token`. The client is not authenticated.
///
/// The caller checks `credentials` first, and slows down guesses.
public struct UnauthenticatedTokenRequest: Sendable {
    public let credentials: ClientCredentials
    /// The grant type that the request names; `nil` for an unknown grant type.
    public var grantType: GrantType? { GrantType.named(in: reader) }
    private let reader: ParameterReader

    /// Throws `invalid_request`, or `invalid_client` when no client is named.
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

    /// Checks the client, and then its parameters.
    public func authenticated(in clients: ClientRegistry) throws(TokenEndpointError) -> TokenRequest {
        let client = try ClientAuthentication(clients).authenticate(credentials)
        do throws(OAuthError) {
            let (type, grant) = try GrantType.read(TokenParameters(reader: reader, client: client))
            try ResourceCheck(audience: client.audience).check(reader.parameters)
            return TokenRequest(
                client: client, grantType: type, grant: grant, app: AppProofParameters(reader))
        } catch {
            throw TokenEndpointError(error)
        }
    }
}
