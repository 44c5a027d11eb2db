/// A request to `/oauth/token` that could be read. The client has not proved who it is.
///
/// The caller looks at `credentials` first, and slows down who guesses.
public struct UnauthenticatedTokenRequest: Sendable {
    public let credentials: ClientCredentials
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
            let grant = try grant(for: client)
            try ResourceCheck(audience: client.audience).check(reader.parameters)
            return TokenRequest(client: client, grant: grant)
        } catch {
            throw TokenEndpointError(error)
        }
    }

    private func grant(for client: OAuthClient) throws(OAuthError) -> TokenRequest.Grant {
        switch try reader.required(.grantType) {
        case "authorization_code":
            return .authorizationCode(
                TokenRequest.CodeGrant(
                    code: try secret(.code, of: client), redirectURI: try reader.text(.redirectURI),
                    codeVerifier: try verifier(of: client)))
        case "refresh_token":
            let refreshToken = try secret(.refreshToken, of: client)
            return .refreshToken(
                TokenRequest.RefreshGrant(refreshToken: refreshToken, scope: try scope(of: client)))
        case "urn:ietf:params:oauth:grant-type:jwt-bearer":
            return .assertion(try assertion(of: client))
        default:
            throw OAuthError(
                .unsupportedGrantType,
                "The grant type must be authorization_code or refresh_token, or jwt-bearer for Google.")
        }
    }

    /// A code or a refresh token. One that cannot be ours is as good as an unknown one.
    ///
    /// Google expects `invalid_grant` for every failure, also for one that is missing.
    private func secret(_ parameter: RequestParameter, of client: OAuthClient) throws(OAuthError) -> String {
        switch reader.parameters[parameter.rawValue] {
        case .repeated: throw reader.refusal(parameter, "is repeated; send it once")
        case .absent where client.googleLinking == nil:
            throw reader.refusal(parameter, "is missing; send it")
        case .text(let text) where text.utf8.count <= parameter.longest: return text
        case .absent, .malformed, .text: throw OAuthError.invalidGrant
        }
    }

    /// One that no challenge can have been made from is a mistake of the client's developer, who is told so.
    /// Whether a well-formed one fits is decided with the code.
    private func verifier(of client: OAuthClient) throws(OAuthError) -> String? {
        switch reader.parameters[RequestParameter.codeVerifier.rawValue] {
        case .repeated: throw reader.refusal(.codeVerifier, "is repeated; send it once")
        case .absent: return nil
        case .text(let text) where CodeVerifier(text) != nil: return text
        case .malformed, .text:
            // Google expects `invalid_grant` for every failure.
            guard client.googleLinking == nil else { throw OAuthError.invalidGrant }
            throw reader.refusal(
                .codeVerifier,
                "must have 43 to 128 characters of A-Z a-z 0-9 - . _ ~ (RFC 7636 section 4.1)")
        }
    }

    private func assertion(of client: OAuthClient) throws(OAuthError) -> TokenRequest.AssertionGrant {
        guard let linking = client.googleLinking, !linking.googleClientIDs.isEmpty else {
            throw OAuthError(
                .unauthorizedClient,
                "The grant type jwt-bearer is only for clients of kind google_linking with google_client_ids."
            )
        }
        let assertion = try reader.token(.assertion)
        guard let intent = TokenRequest.Intent(rawValue: try reader.required(.intent)) else {
            throw OAuthError(.invalidRequest, "The intent must be check, get or create.")
        }
        return TokenRequest.AssertionGrant(
            assertion: assertion, intent: intent, scope: try scope(of: client))
    }

    private func scope(of client: OAuthClient) throws(OAuthError) -> ScopeSet? {
        guard let text = try reader.text(.scope) else { return nil }
        guard let scope = ScopeSet(parsing: text), scope.isSubset(of: client.scopes) else {
            throw OAuthError(
                .invalidScope, "The scope must be some of the client's scopes, separated by single spaces.")
        }
        return scope
    }
}
