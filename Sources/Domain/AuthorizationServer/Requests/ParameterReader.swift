/// Reads known parameters. Any fault in them throws `invalid_request`.
struct ParameterReader {
    let parameters: FormParameters

    init(_ parameters: FormParameters) {
        self.parameters = parameters
    }

    /// Returns the value. Returns `nil` if the parameter is missing or has no value.
    func text(_ parameter: RequestParameter) throws(OAuthError) -> String? {
        switch value(parameter) {
        case .absent: return nil
        case .repeated: throw refusal(parameter, "is repeated; send it once")
        case .malformed: throw refusal(parameter, "is not UTF-8 in correct percent-encoding; encode it again")
        case .text(let text):
            guard text.utf8.count <= parameter.longest else {
                throw refusal(parameter, "has more than \(parameter.longest) bytes; shorten it")
            }
            return text
        }
    }

    func required(_ parameter: RequestParameter) throws(OAuthError) -> String {
        guard let text = try text(parameter) else { throw refusal(parameter, "is missing; send it") }
        return text
    }

    /// Reads a required token. An overlong token is never valid, but an invalid token is not a faulty request
    /// (RFC 7009 §2.2, RFC 7662 §2.2), so the reader returns an empty string, which is never a valid token
    /// either.
    func token(_ parameter: RequestParameter) throws(OAuthError) -> String {
        if case .text(let text) = value(parameter), text.utf8.count > parameter.longest {
            return ""
        }
        return try required(parameter)
    }

    /// Reads a parameter that is only a hint. A malformed hint is ignored, but a repeated hint is refused.
    func hint(_ parameter: RequestParameter) throws(OAuthError) -> String? {
        switch value(parameter) {
        case .absent, .malformed: return nil
        case .repeated: throw refusal(parameter, "is repeated; send it once")
        case .text(let text): return text.utf8.count <= parameter.longest ? text : nil
        }
    }

    /// Reads `state` without decoding it, so that the response can return it byte for byte.
    func state() throws(OAuthError) -> RequestState? {
        let values = parameters.rawValues(of: RequestParameter.state.rawValue)
        guard values.count <= 1 else { throw refusal(.state, "is repeated; send it once") }
        guard let raw = values.first, !raw.isEmpty else { return nil }
        let state: RequestState?
        switch parameters.source {
        case .query: state = RequestState(query: raw)
        case .form: state = try text(.state).flatMap { RequestState(text: $0) }
        }
        guard let state else {
            throw refusal(.state, "has more than \(RequestState.longest) bytes, or bytes of no query")
        }
        return state
    }

    /// Reads one byte more than the maximum, so that the caller can recognize an overlong value.
    private func value(_ parameter: RequestParameter) -> FormParameters.Value {
        parameters.value(of: parameter.rawValue, upTo: parameter.longest + 1)
    }

    func refusal(_ parameter: RequestParameter, _ fault: String) -> OAuthError {
        OAuthError(.invalidRequest, "The parameter \(parameter.rawValue) \(fault).")
    }
}

/// A parameter that the service knows.
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

    /// Size in bytes of the longest name.
    static let longestName = allCases.map(\.rawValue.utf8.count).max() ?? 0

    /// Maximum size of the value in bytes. Every value is limited, because the service stores or compares it.
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
        // This allows attestations of up to 9 KiB, base64-encoded. Current attestations have 6 KiB.
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
