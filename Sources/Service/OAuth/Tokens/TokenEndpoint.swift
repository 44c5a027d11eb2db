public import AuthorizationServer

/// `POST /oauth/token` (RFC 6749 §3.2): one type for each grant type.
public struct TokenEndpoint: Sendable {
    /// The response to a request.
    public enum Response: Sendable {
        case tokens(TokenResponse)
        /// Google's streamlined linking without tokens.
        case linking(LinkingResponse)
    }

    private let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// - Throws: `OAuthError`; `StorageError`, `OverloadedError`, `KeySetError`, `SigningKeysShut`, `JOSEError`.
    public func response(_ request: TokenRequest) async throws -> Response {
        // First, so that no proof, code or token is used up in a request that gets nothing, and can be repeated.
        try await TokenMaker(server: server).requireKeys(for: request)
        try await ClientAppCheck(server: server).check(request)
        return switch request.grant {
        case .authorizationCode(let grant):
            .tokens(try await CodeRedemption(server: server).tokens(for: grant, of: request.client))
        case .refreshToken(let grant):
            .tokens(try await TokenRefresh(server: server).tokens(for: grant, of: request.client))
        case .assertion(let grant):
            try await AssertionGrant(server: server).response(grant, of: request.client)
        case .exchange(let grant):
            .tokens(try await TokenExchange(server: server).tokens(for: grant, of: request.client))
        case .device(let grant):
            .tokens(try await DevicePoll(server: server).tokens(for: grant, of: request.client))
        }
    }
}
