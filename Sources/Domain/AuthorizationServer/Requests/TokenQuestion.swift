/// A request to `/oauth/revoke` (RFC 7009 §2.1) or `/oauth/introspect` (RFC 7662 §2.1): a token, and the
/// caller's credentials.
public struct TokenQuestion: Sendable, Confidential {
    /// The endpoint that received the request.
    public enum Endpoint: Sendable {
        case revocation, introspection
    }

    public let endpoint: Endpoint
    public let token: String
    /// The token type that the client claims. `nil` if the hint is missing or unknown, because it only
    /// determines which type is tried first.
    public let hint: Hint?
    /// The client's credentials. `nil` if the caller of the introspection endpoint uses an API key instead.
    public let credentials: ClientCredentials?

    public enum Hint: String, Sendable, Hashable, CaseIterable {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
    }

    /// Reads the request. Throws `invalid_request` or `invalid_client`.
    ///
    /// - Parameters:
    ///   - hasAPIKey: True if the `Authorization` header contains a valid API key.
    ///   - query: The request target's query.
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

    /// Authenticates the client. Returns `nil` if the caller uses an API key.
    ///
    /// Any client may revoke its own tokens. Only confidential clients may introspect tokens (RFC 7662 §4),
    /// because anyone could use a public client's ID to try out tokens.
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

    /// Reads the credentials. A revocation request that names no client is malformed, just like a request
    /// without a token.
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

/// The credentials at the endpoints of a client's event stream. They must be sent as HTTP Basic, because the
/// bodies of these requests are JSON.
public struct StreamRequest: ClientRequest, Confidential {
    public let credentials: ClientCredentials

    /// Reads the credentials. Throws `invalid_client`.
    ///
    /// - Parameter authorization: The `Authorization` header.
    public init(authorization: String?) throws(TokenEndpointError) {
        guard let basic = authorization.flatMap({ BasicCredentials($0) }) else {
            throw TokenEndpointError(
                OAuthError(.invalidClient, "Send client ID and secret by HTTP Basic."), usedBasic: true)
        }
        credentials = ClientCredentials(basic)
    }

    /// Authenticates the client. A client without a secret is refused with `invalid_client` as well, because
    /// client IDs are public and events identify users.
    public func authenticated(in clients: ClientRegistry) throws(TokenEndpointError) -> OAuthClient {
        let client = try ClientAuthentication(clients).authenticate(credentials)
        guard !client.secretHashes.isEmpty else {
            throw TokenEndpointError(
                OAuthError(.invalidClient, "Only clients with a secret can read events."), usedBasic: true)
        }
        return client
    }
}
