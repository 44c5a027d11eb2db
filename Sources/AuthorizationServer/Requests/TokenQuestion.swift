/// A request to `/oauth/revoke` (RFC 7009 §2.1) or `/oauth/introspect` (RFC 7662 §2.1): one token, and who
/// asks.
public struct TokenQuestion: Sendable, Confidential {
    /// Which of the two endpoints is asked.
    public enum Endpoint: Sendable {
        case revocation, introspection
    }

    public let endpoint: Endpoint
    public let token: String
    /// What the client says that the token is. `nil` without a hint, and with one that is unknown: a hint
    /// only says where to look first.
    public let hint: Hint?
    /// `nil` at introspection, when the caller has an API key in place of a client.
    public let credentials: ClientCredentials?

    public enum Hint: String, Sendable, Hashable, CaseIterable {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
    }

    /// Throws `invalid_request` or `invalid_client`.
    ///
    /// - Parameters:
    ///   - hasAPIKey: Whether the field `Authorization` has an API key that was found to be valid.
    ///   - query: The query of the request's target.
    public init(
        _ endpoint: Endpoint, body: some Collection<UInt8>, contentType: String?, authorization: String?,
        hasAPIKey: Bool, query: (some Collection<UInt8>)?
    ) throws(TokenEndpointError) {
        let reader = try EndpointForm.read(body, contentType: contentType, query: query)
        self.endpoint = endpoint
        if hasAPIKey, endpoint == .introspection {
            credentials = nil
        } else {
            credentials = try Self.credentials(reader, authorization, at: endpoint)
        }
        do throws(OAuthError) {
            token = try reader.token(.token)
            hint = try reader.hint(.tokenTypeHint).flatMap { Hint(rawValue: $0) }
        } catch {
            throw TokenEndpointError(error)
        }
    }

    /// Checks the client that asks. `nil` for a caller with an API key.
    ///
    /// Any client may revoke its own tokens; only confidential ones may introspect (RFC 7662 §4), because
    /// with the ID of a public client everyone could try tokens.
    public func client(in clients: ClientRegistry) throws(TokenEndpointError) -> OAuthClient? {
        guard let credentials else { return nil }
        let client = try ClientAuthentication(clients).authenticate(credentials)
        guard endpoint == .revocation || client.isConfidential else {
            throw TokenEndpointError(
                OAuthError(.invalidClient, "Only confidential clients and API keys can introspect tokens."),
                usedBasic: credentials.method == .basic)
        }
        return client
    }

    /// A revocation that names no client is malformed, as a missing token is.
    private static func credentials(
        _ reader: ParameterReader, _ authorization: String?, at endpoint: Endpoint
    ) throws(TokenEndpointError) -> ClientCredentials {
        if endpoint == .revocation, authorization == nil,
            reader.parameters[RequestParameter.clientID.rawValue] == .absent
        {
            throw TokenEndpointError(
                .invalidRequest,
                "The request names no client; send client_id, and the client secret if there is one.")
        }
        return try ClientCredentials(reader, authorization: authorization)
    }
}
