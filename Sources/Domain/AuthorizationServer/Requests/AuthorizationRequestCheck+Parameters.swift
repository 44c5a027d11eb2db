/// Checks the parameters other than client and redirect URI. Every fault in them goes to the client by a
/// redirect.
extension AuthorizationRequestCheck {
    func request(
        _ reader: ParameterReader, client: OAuthClient, response: AuthorizationResponse,
        languages: RequestedLanguages
    ) throws(OAuthError) -> AuthorizationRequest {
        try refuseRequestObjects(reader)
        try checkResponse(reader)
        let scopes = try scopes(reader, of: client)
        let nonce = try reader.text(.nonce)
        let challenge = try challenge(
            reader, of: client, hasNonceInIDToken: nonce != nil && scopes.contains(.openID))
        let prompts = try prompts(reader)
        let maxAge = try maxAge(reader)
        try ResourceCheck(audience: client.audience).check(reader.parameters)
        // A repeated hint is an error like any repeated parameter.
        _ = try reader.hint(.uiLocales)
        _ = try reader.hint(.userLocale)
        return AuthorizationRequest(
            client: client, response: response, scopes: scopes, challenge: challenge,
            nonce: nonce, prompts: prompts,
            maxAge: [maxAge, client.maxAuthenticationAge].compactMap(\.self).min(),
            loginHint: try reader.hint(.loginHint), idTokenHint: try idTokenHint(reader), languages: languages
        )
    }

    /// Other than `login_hint`, the token decides who gets a response, so a malformed one is refused.
    private func idTokenHint(_ reader: ParameterReader) throws(OAuthError) -> IDTokenHint.Unverified? {
        guard let text = try reader.text(.idTokenHint) else { return nil }
        guard let hint = IDTokenHint.Unverified(text) else { throw .idTokenHintRefused }
        return hint
    }

    /// Refuses request objects (OpenID Connect Core §6), because their content could contradict the query.
    private func refuseRequestObjects(_ reader: ParameterReader) throws(OAuthError) {
        if reader.parameters[RequestParameter.request.rawValue] != .absent {
            throw OAuthError(
                .requestNotSupported, "The parameter request is not supported; send plain parameters.")
        }
        if reader.parameters[RequestParameter.requestURI.rawValue] != .absent {
            throw OAuthError(
                .requestURINotSupported, "The parameter request_uri is not supported; send plain parameters.")
        }
    }

    private func checkResponse(_ reader: ParameterReader) throws(OAuthError) {
        guard try reader.required(.responseType) == "code" else {
            throw OAuthError(
                .unsupportedResponseType, "The response type must be code; others put tokens into URLs.")
        }
        // A code in a fragment or a form would leave the redirect that the page's policy allows.
        guard try reader.text(.responseMode) ?? "query" == "query" else {
            throw OAuthError(.invalidRequest, "The response mode must be query; leave response_mode out.")
        }
    }

    private func scopes(_ reader: ParameterReader, of client: OAuthClient) throws(OAuthError) -> ScopeSet {
        guard let text = try reader.text(.scope) else { return client.scopes }
        guard let scopes = ScopeSet(parsing: text) else {
            throw OAuthError(
                .invalidScope, "The scope must be names of scopes that are separated by single spaces.")
        }
        guard scopes.isSubset(of: client.scopes) else {
            throw OAuthError(
                .invalidScope, "The client may not ask for one of these scopes; ask only for its own.")
        }
        return client.completed(scopes)
    }

    private func challenge(
        _ reader: ParameterReader, of client: OAuthClient, hasNonceInIDToken: Bool
    ) throws(OAuthError) -> CodeChallenge? {
        try ProofKeyCheck(
            rule: client.proofKeyRule, allowsPlain: client.allowsPlainProofKeys,
            hasNonceInIDToken: hasNonceInIDToken
        ).challenge(try reader.text(.codeChallenge), method: try reader.text(.codeChallengeMethod))
    }

    private func prompts(_ reader: ParameterReader) throws(OAuthError)
        -> Set<AuthorizationRequest.Prompt>
    {
        guard let text = try reader.text(.prompt) else { return [] }
        var prompts: Set<AuthorizationRequest.Prompt> = []
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            guard let prompt = AuthorizationRequest.Prompt(rawValue: String(word)) else {
                throw OAuthError(
                    .invalidRequest, "The prompt must be none, or some of login, consent and select_account.")
            }
            prompts.insert(prompt)
        }
        guard !prompts.contains(.none) || prompts.count == 1 else {
            throw OAuthError(.invalidRequest, "The prompt none must be alone.")
        }
        return prompts
    }

    private func maxAge(_ reader: ParameterReader) throws(OAuthError) -> Int64? {
        guard let text = try reader.text(.maxAge) else { return nil }
        guard text.utf8.count <= 10, text.utf8.allSatisfy(\.isDigit), let seconds = Int64(text) else {
            throw OAuthError(
                .invalidRequest, "The parameter max_age must be seconds, a number of at most ten digits.")
        }
        return seconds
    }
}
