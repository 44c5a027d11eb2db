/// A grant type of the token endpoint (RFC 6749 §1.3). Dispatch, metadata, error texts
/// metrics and the exchanges of `siwa dev` derive from the list. `TokenRequest.Grant` has
/// the parameters of each type, and a `switch` over it chooses the handler.
public struct GrantType: Sendable {
    /// `grant_type`
    public let name: String
    /// The label of the metrics.
    public let label: String
    /// The name in error texts.
    let words: String
    /// The clients that may use the grant type, in error texts.
    public let clients: String
    /// The title of a request in the exchanges of `siwa dev`, and its section of the standard.
    public let title, standard: String
    /// True if tokens of this grant type come with an ID token if the client has the scope `openid`.
    public let givesIDToken: Bool
    let isOffered: @Sendable (OAuthClient) -> Bool
    let read: @Sendable (TokenParameters) throws(OAuthError) -> TokenRequest.Grant

    /// Returns true if any of the clients may use the grant type.
    public func isOffered(to clients: [OAuthClient]) -> Bool { clients.contains(where: isOffered) }

    public static let all = [authorizationCode, refreshToken, jwtBearer, tokenExchange, deviceCode]

    /// Redemption of a code (RFC 6749 §4.1.3).
    static let authorizationCode = GrantType(
        name: "authorization_code", label: "authorization_code", words: "authorization_code",
        clients: "every client", title: "Exchange the code", standard: "RFC 6749 §4.1.3",
        givesIDToken: true, isOffered: { _ in true }
    ) { parameters throws(OAuthError) in
        .authorizationCode(
            TokenRequest.CodeGrant(
                code: try parameters.secret(.code), redirectURI: try parameters.reader.text(.redirectURI),
                codeVerifier: try parameters.verifier()))
    }

    /// Refresh (RFC 6749 §6).
    static let refreshToken = GrantType(
        name: "refresh_token", label: "refresh_token", words: "refresh_token", clients: "every client",
        title: "Refresh the tokens", standard: "RFC 6749 §6", givesIDToken: false, isOffered: { _ in true }
    ) { parameters throws(OAuthError) in
        let refreshToken = try parameters.secret(.refreshToken)
        return .refreshToken(
            TokenRequest.RefreshGrant(refreshToken: refreshToken, scope: try parameters.scope()))
    }

    /// Assertion (RFC 7523 §2.1) with Google's ID token: streamlined linking.
    static let jwtBearer = GrantType(
        name: "urn:ietf:params:oauth:grant-type:jwt-bearer", label: "jwt_bearer",
        words: "jwt-bearer for Google",
        clients: "clients of kind google_linking with google_client_ids",
        title: "Ask with Google's ID token", standard: "RFC 7523 §2.1", givesIDToken: false,
        isOffered: { !($0.googleLinking?.googleClientIDs.isEmpty ?? true) }
    ) { parameters throws(OAuthError) in
        let assertion = try parameters.reader.token(.assertion)
        guard let intent = TokenRequest.Intent(rawValue: try parameters.reader.required(.intent)) else {
            throw OAuthError(.invalidRequest, "The intent must be check, get or create.")
        }
        return .assertion(
            TokenRequest.AssertionGrant(
                assertion: assertion, intent: intent, scope: try parameters.scope()))
    }

    /// Token exchange (RFC 8693) with Apple's identity token: a native sign-in without a browser.
    static let tokenExchange = GrantType(
        name: "urn:ietf:params:oauth:grant-type:token-exchange", label: "token_exchange",
        words: "token-exchange for native apps",
        clients: "clients of kind native with allow_native_sign_in",
        title: "Exchange Apple's identity token", standard: "RFC 8693 §2.1", givesIDToken: true,
        isOffered: { $0.nativeSignInBundleID != nil }
    ) { parameters throws(OAuthError) in
        .exchange(try TokenRequest.ExchangeGrant(parameters))
    }

    /// Poll of a device without a browser (RFC 8628 §3.4).
    public static let deviceCode = GrantType(
        name: "urn:ietf:params:oauth:grant-type:device_code", label: "device_code",
        words: "device_code for devices without a browser", clients: "clients with allow_device_grant",
        title: "Ask for the device's tokens", standard: "RFC 8628 §3.4", givesIDToken: true,
        isOffered: \.allowsDeviceGrant
    ) { parameters throws(OAuthError) in
        .device(TokenRequest.DeviceGrant(deviceCode: try parameters.secret(.deviceCode)))
    }

    /// Returns the grant type that a request names; `nil` for a type outside the list.
    static func named(in reader: ParameterReader) -> GrantType? {
        guard case .text(let name) = reader.parameters[RequestParameter.grantType.rawValue] else {
            return nil
        }
        return all.first { $0.name == name }
    }

    /// Reads the parameters of the requested grant type.
    ///
    /// - Throws: `unsupported_grant_type` for a type that is not in the list, `unauthorized_client` for a
    ///   type that the client must not use, and the errors of its parameters.
    static func read(_ parameters: TokenParameters) throws(OAuthError) -> (GrantType, TokenRequest.Grant) {
        let name = try parameters.reader.required(.grantType)
        guard let type = all.first(where: { $0.name == name }) else {
            let known = all.map(\.words).joined(separator: ", ")
            throw OAuthError(.unsupportedGrantType, "The grant type must be one of these: \(known).")
        }
        guard parameters.client.mayUse(type) else {
            throw OAuthError(
                .unauthorizedClient, "The grant type \(type.words) is only for \(type.clients).")
        }
        return (type, try type.read(parameters))
    }
}

extension OAuthClient {
    /// Returns true if the client may use the grant type.
    public func mayUse(_ type: GrantType) -> Bool { type.isOffered(self) }
}

/// The parameters of a token request, as grant types read them.
struct TokenParameters {
    let reader: ParameterReader
    let client: OAuthClient

    /// Returns a code or a refresh token. A text that cannot be issued by
    /// this service is treated like an unknown token.
    ///
    /// Google expects `invalid_grant` for every failure, including a missing parameter.
    func secret(_ parameter: RequestParameter) throws(OAuthError) -> String {
        switch reader.parameters[parameter.rawValue] {
        case .repeated: throw reader.refusal(parameter, "is repeated; send it once")
        case .absent where client.googleLinking == nil:
            throw reader.refusal(parameter, "is missing; send it")
        case .text(let text) where text.utf8.count <= parameter.longest: return text
        case .absent, .malformed, .text: throw OAuthError.invalidGrant(.requestMalformed)
        }
    }

    /// Returns the code verifier. A text that cannot be a verifier is a mistake of the client's developer,
    /// and the error states this. A well-formed verifier is checked together with the code.
    func verifier() throws(OAuthError) -> String? {
        switch reader.parameters[RequestParameter.codeVerifier.rawValue] {
        case .repeated: throw reader.refusal(.codeVerifier, "is repeated; send it once")
        case .absent: return nil
        case .text(let text) where CodeVerifier(text) != nil: return text
        case .malformed, .text:
            // Google expects `invalid_grant` for every failure.
            guard client.googleLinking == nil else { throw OAuthError.invalidGrant(.verifierDiffers) }
            throw reader.refusal(
                .codeVerifier,
                "must have 43 to 128 characters of A-Z a-z 0-9 - . _ ~ (RFC 7636 section 4.1)")
        }
    }

    func scope() throws(OAuthError) -> ScopeSet? {
        guard let text = try reader.text(.scope) else { return nil }
        guard let scope = ScopeSet(parsing: text), scope.isSubset(of: client.scopes) else {
            throw OAuthError(
                .invalidScope, "The scope must be some of the client's scopes, separated by single spaces.")
        }
        return scope
    }
}
