/// A grant type of the token endpoint (RFC 6749 §1.3). Dispatch, metadata, error texts, metrics and the `siwa
/// dev` exchanges are all derived from the list of grant types. The parameters of each type are in
/// `TokenRequest.Grant`, and a `switch` over it chooses the handler.
public struct GrantType: Sendable {
    /// The value of the `grant_type` parameter.
    public let name: String
    /// The label of this grant type in the metrics.
    public let label: String
    /// The grant type's name in error texts.
    let words: String
    /// The noun that error texts use for clients that may use the grant type.
    public let clients: String
    /// The request's title in the `siwa dev` exchanges, and the section of the standard that defines the
    /// request.
    public let title, standard: String
    /// True if clients with the `openid` scope get an ID token along with this grant type's tokens.
    public let givesIDToken: Bool
    let isOffered: @Sendable (OAuthClient) -> Bool
    let read: @Sendable (TokenParameters) throws(OAuthError) -> TokenRequest.Grant

    /// Returns true if at least one of the clients may use the grant type.
    public func isOffered(to clients: [OAuthClient]) -> Bool { clients.contains(where: isOffered) }

    public static let all = [authorizationCode, refreshToken, jwtBearer, tokenExchange, deviceCode]

    /// The redemption of a code (RFC 6749 §4.1.3).
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

    /// The use of a refresh token (RFC 6749 §6).
    static let refreshToken = GrantType(
        name: "refresh_token", label: "refresh_token", words: "refresh_token", clients: "every client",
        title: "Refresh the tokens", standard: "RFC 6749 §6", givesIDToken: false, isOffered: { _ in true }
    ) { parameters throws(OAuthError) in
        let refreshToken = try parameters.secret(.refreshToken)
        return .refreshToken(
            TokenRequest.RefreshGrant(refreshToken: refreshToken, scope: try parameters.scope()))
    }

    /// An assertion (RFC 7523 §2.1): Google's ID token, for streamlined linking.
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

    /// A token exchange (RFC 8693) of Apple's identity token, for a native sign-in without a browser.
    static let tokenExchange = GrantType(
        name: "urn:ietf:params:oauth:grant-type:token-exchange", label: "token_exchange",
        words: "token-exchange for native apps",
        clients: "clients of kind native with allow_native_sign_in",
        title: "Exchange Apple's identity token", standard: "RFC 8693 §2.1", givesIDToken: true,
        isOffered: { $0.nativeSignInBundleID != nil }
    ) { parameters throws(OAuthError) in
        .exchange(try TokenRequest.ExchangeGrant(parameters))
    }

    /// A poll by a device without a browser (RFC 8628 §3.4).
    public static let deviceCode = GrantType(
        name: "urn:ietf:params:oauth:grant-type:device_code", label: "device_code",
        words: "device_code for devices without a browser", clients: "clients with allow_device_grant",
        title: "Ask for the device's tokens", standard: "RFC 8628 §3.4", givesIDToken: true,
        isOffered: \.allowsDeviceGrant
    ) { parameters throws(OAuthError) in
        .device(TokenRequest.DeviceGrant(deviceCode: try parameters.secret(.deviceCode)))
    }

    /// Returns the grant type named in a request. Returns `nil` if it is unknown.
    static func named(in reader: ParameterReader) -> GrantType? {
        guard case .text(let name) = reader.parameters[RequestParameter.grantType.rawValue] else {
            return nil
        }
        return all.first { $0.name == name }
    }

    /// Reads the parameters of the requested grant type.
    ///
    /// - Throws: `unsupported_grant_type` for an unknown grant type, `unauthorized_client` for a grant type
    ///   that the client may not use, and the errors of the parameters.
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

/// The parameters of a token request, with readers shared by several grant types.
struct TokenParameters {
    let reader: ParameterReader
    let client: OAuthClient

    /// Returns a code or refresh token. A string that this service cannot have issued is treated like an
    /// unknown token.
    ///
    /// Google expects `invalid_grant` for all failures, even for a missing parameter.
    func secret(_ parameter: RequestParameter) throws(OAuthError) -> String {
        switch reader.parameters[parameter.rawValue] {
        case .repeated: throw reader.refusal(parameter, "is repeated; send it once")
        case .absent where client.googleLinking == nil:
            throw reader.refusal(parameter, "is missing; send it")
        case .text(let text) where text.utf8.count <= parameter.longest: return text
        case .absent, .malformed, .text: throw OAuthError.invalidGrant(.requestMalformed)
        }
    }

    /// Returns the code verifier. A malformed verifier has its own error text, because it is a mistake by the
    /// client's developer. A well-formed verifier is checked when the code is redeemed.
    func verifier() throws(OAuthError) -> String? {
        switch reader.parameters[RequestParameter.codeVerifier.rawValue] {
        case .repeated: throw reader.refusal(.codeVerifier, "is repeated; send it once")
        case .absent: return nil
        case .text(let text) where CodeVerifier(text) != nil: return text
        case .malformed, .text:
            // Google expects `invalid_grant` for all failures.
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
