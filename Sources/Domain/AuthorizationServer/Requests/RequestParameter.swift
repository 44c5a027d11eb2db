/// A parameter that this service understands.
enum RequestParameter: String, Sendable, CaseIterable {
    case clientID = "client_id"
    case clientSecret = "client_secret"
    case redirectURI = "redirect_uri"
    case responseType = "response_type"
    case responseMode = "response_mode"
    case scope, state, nonce, prompt, resource, request
    case requestURI = "request_uri"
    case codeChallenge = "code_challenge"
    case codeChallengeMethod = "code_challenge_method"
    case maxAge = "max_age"
    case loginHint = "login_hint"
    case uiLocales = "ui_locales"
    case userLocale = "user_locale"
    case grantType = "grant_type"
    case code
    case codeVerifier = "code_verifier"
    case refreshToken = "refresh_token"
    case assertion, intent, token
    case tokenTypeHint = "token_type_hint"
    case clientAssertion = "client_assertion"
    case clientAssertionType = "client_assertion_type"
    case attestationKeyID = "attestation_key_id"
    case attestationAssertion = "attestation_assertion"
    case attestationClientData = "attestation_client_data"
    case appVersion = "app_version"
    case keyID = "key_id"
    case attestation, challenge, purpose
    case subjectToken = "subject_token"
    case subjectTokenType = "subject_token_type"
    case actorToken = "actor_token"
    case actorTokenType = "actor_token_type"
    case requestedTokenType = "requested_token_type"
    case audience
    case authorizationCode = "authorization_code"
    case user
    case idTokenHint = "id_token_hint"
    case postLogoutRedirectURI = "post_logout_redirect_uri"
    case deviceCode = "device_code"

    /// Length in bytes of the longest name.
    static let longestName = allCases.map(\.rawValue.utf8.count).max() ?? 0

    /// Bound of the parameter's value in bytes. Every value is stored or compared, so every value has a
    /// bound.
    var longest: Int {
        switch self {
        case .clientID: 128
        case .clientSecret: 255
        case .redirectURI, .postLogoutRedirectURI: 2048
        case .responseType, .responseMode, .prompt, .tokenTypeHint, .intent, .clientAssertionType,
            .subjectTokenType, .actorTokenType, .requestedTokenType:
            128
        case .codeChallengeMethod, .maxAge, .purpose: 16
        case .grantType: 128
        case .scope: ScopeSet.longest
        case .state: RequestState.longest
        case .nonce, .loginHint, .resource, .audience: 512
        case .uiLocales: 256
        case .userLocale, .attestationKeyID, .keyID, .appVersion: 64
        case .attestationClientData, .challenge: 1024
        // Attestations of 9 KiB in base64. Those of today have 6 KiB.
        case .attestation: 12_288
        case .codeChallenge, .codeVerifier: 128
        case .code, .refreshToken, .deviceCode: 512
        case .authorizationCode: 1024
        case .user: 4096
        case .assertion, .token, .clientAssertion, .request, .requestURI, .attestationAssertion,
            .subjectToken, .actorToken, .idTokenHint:
            8192
        }
    }
}
