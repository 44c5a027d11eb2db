/// A request to `/oauth/revoke` (RFC 7009 §2.1) or `/oauth/introspect` (RFC 7662 §2.1): one token, and the
/// caller's credentials.
public struct TokenQuestion: Sendable, Confidential {
    /// The endpoint of the request.
    public enum Endpoint: Sendable {
        case revocation, introspection
    }

    public let endpoint: Endpoint
    public let token: String
    /// The kind of token according to the client. `nil` without a hint, and with an unknown hint: a
    /// hint only decides which kind is tried first.
    public let hint: Hint?
    /// Credentials; `nil` at introspection, when the caller has an API key instead of a client.
    public let credentials: ClientCredentials?

    public enum Hint: String, Sendable, Hashable, CaseIterable {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
    }

    /// Reads the request. Throws `invalid_request` or `invalid_client`.
    ///
    /// - Parameters:
    ///   - hasAPIKey: True if the field `Authorization` has a valid API key.
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

    /// Authenticates the client. Returns `nil` for a caller with an API key.
    ///
    /// Any client may revoke its own tokens; only confidential clients may introspect (RFC 7662 §4), because
    /// any party could try tokens with the ID of a public client.
    public func client(in clients: ClientRegistry) throws(TokenEndpointError) -> OAuthClient? {
        guard let credentials else { return nil }
        let client = try ClientAuthentication(clients).authenticate(credentials)
        guard endpoint == .revocation || client.kind.isConfidential else {
            throw TokenEndpointError(
                OAuthError(.invalidClient, "Only confidential clients and API keys can introspect tokens."),
                usedBasic: credentials.method == .basic)
        }
        return client
    }

    /// Reads the credentials. A revocation without a client is malformed, like a revocation without a token.
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

/// The credentials at the endpoints of a client's event stream. Their
/// bodies are JSON, so only HTTP Basic is accepted.
public struct StreamRequest: ClientRequest, Confidential {
    public let credentials: ClientCredentials

    /// Reads the credentials. Throws `invalid_client`.
    ///
    /// - Parameter authorization: The field `Authorization`.
    public init(authorization: String?) throws(TokenEndpointError) {
        guard let basic = authorization.flatMap({ BasicCredentials($0) }) else {
            throw TokenEndpointError(
                OAuthError(.invalidClient, "Send client ID and secret by HTTP Basic."), usedBasic: true)
        }
        credentials = ClientCredentials(basic)
    }

    /// Authenticates the client. Throws `invalid_client`, even for a client without a secret:
    /// client IDs are public, and events name users.
    public func authenticated(in clients: ClientRegistry) throws(TokenEndpointError) -> OAuthClient {
        let client = try ClientAuthentication(clients).authenticate(credentials)
        guard !client.secretHashes.isEmpty else {
            throw TokenEndpointError(
                OAuthError(.invalidClient, "Only clients with a secret can read events."), usedBasic: true)
        }
        return client
    }
}
