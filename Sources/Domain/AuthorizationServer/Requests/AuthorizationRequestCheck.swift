public import AppleAccounts

/// Checks the parameters of a request to `/oauth/authorize`.
///
/// The order of the checks protects users: nothing is sent to the redirect URI before it is known to belong
/// to the client. Otherwise an attacker could choose the destination of the redirect (RFC 9700 §4.11.2).
public struct AuthorizationRequestCheck: Sendable {
    let settings: OAuthSettings

    public init(_ settings: OAuthSettings) {
        self.settings = settings
    }

    /// - Parameters:
    ///   - parameters: The bytes of a `GET` query or a `POST` form.
    ///   - userAgent: The request's `User-Agent` header.
    public func check(
        _ parameters: some Collection<UInt8>, as source: FormParameters.Source, userAgent: String?
    ) -> AuthorizationDecision {
        do throws(FormParameters.TooMany) {
            return check(try FormParameters(parsing: parameters, as: source), userAgent: userAgent)
        } catch {
            return page(
                OAuthError(
                    .invalidRequest,
                    "The request has more than \(FormParameters.mostParameters) parameters or "
                        + "\(FormParameters.mostBytes) bytes; shorten it."),
                languages: RequestedLanguages())
        }
    }

    func check(_ parameters: FormParameters, userAgent: String?) -> AuthorizationDecision {
        let reader = ParameterReader(parameters)
        let languages = RequestedLanguages(reader)
        let uri: String
        do throws(OAuthError) {
            uri = try reader.required(.redirectURI)
        } catch {
            // An unknown client is reported before a missing redirect URI, so that developers find the two
            // errors in order.
            let (client, clientError) = client(reader)
            return page(clientError ?? error, client: client, languages: languages)
        }
        let (client, clientError) = client(reader)
        guard let client, let target = client.redirectTarget(for: uri) else {
            if let target = settings.clients.appFlipTarget(for: uri) {
                // These URIs belong to Google, so the error may be sent there. Google then continues in the
                // browser.
                let response = AuthorizationResponse(
                    target: target, state: try? reader.state(), issuer: settings.issuer)
                return .redirect(
                    response,
                    OAuthError(
                        .invalidRequest,
                        "The client is not one that can use this redirect URI; check client_id."))
            }
            let mismatch = OAuthError(
                .redirectURIMismatch,
                "The redirect URI is not registered for this client; register it exactly as it is sent.")
            return page(clientError ?? mismatch, client: client, languages: languages)
        }
        if let userAgent,
            EmbeddedWebView.isOne(userAgent: userAgent, allowsHomeScreen: client.allowsHomeScreenApp)
        {
            let error = OAuthError(
                .disallowedUserAgent,
                "The page was opened inside another app, which could read what the user types; open it in the "
                    + "browser.")
            return page(error, client: client, languages: languages)
        }
        let state: RequestState?
        do throws(OAuthError) {
            state = try reader.state()
        } catch {
            // If the request has several `state` values, the response contains none of them.
            return .redirect(
                AuthorizationResponse(target: target, state: nil, issuer: settings.issuer), error)
        }
        let response = AuthorizationResponse(target: target, state: state, issuer: settings.issuer)
        do throws(OAuthError) {
            return .proceed(try request(reader, client: client, response: response, languages: languages))
        } catch {
            return .redirect(response, error)
        }
    }

    private func client(_ reader: ParameterReader) -> (OAuthClient?, OAuthError?) {
        do throws(OAuthError) {
            guard let client = settings.clients[try reader.required(.clientID)] else {
                return (nil, OAuthError(.invalidClient, "The client is unknown; check client_id."))
            }
            return (client, nil)
        } catch {
            return (nil, error)
        }
    }

    private func page(
        _ error: OAuthError, client: OAuthClient? = nil, languages: RequestedLanguages
    ) -> AuthorizationDecision {
        .page(AuthorizationPageError(error: error, client: client, languages: languages))
    }
}

/// Checks all parameters except client and redirect URI. Any fault in them is sent to the client by redirect.
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
        // The result is not used here, but a repeated hint is refused like any repeated parameter.
        _ = try reader.hint(.uiLocales)
        _ = try reader.hint(.userLocale)
        return AuthorizationRequest(
            client: client, response: response, scopes: scopes, challenge: challenge,
            nonce: nonce, prompts: prompts,
            maxAge: [maxAge, client.maxAuthenticationAge].compactMap(\.self).min(),
            loginHint: try reader.hint(.loginHint), idTokenHint: try idTokenHint(reader), languages: languages
        )
    }

    /// Reads the hint. A malformed token is refused because, unlike `login_hint`, it determines which user
    /// the response is about.
    private func idTokenHint(_ reader: ParameterReader) throws(OAuthError) -> IDTokenHint.Unverified? {
        guard let text = try reader.text(.idTokenHint) else { return nil }
        guard let hint = IDTokenHint.Unverified(text) else { throw .idTokenHintRefused }
        return hint
    }

    /// Refuses request objects (OpenID Connect Core §6), because they could contradict the query.
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
        // With a fragment or a form, the code could reach the client without the redirect that the page's
        // policy allows.
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

/// The decision about a request to `/oauth/authorize`, before the user is known.
public enum AuthorizationDecision: Sendable {
    /// A page for the user: no URI in the request is trusted, or this browser must not be redirected.
    case page(AuthorizationPageError)
    /// A redirect (303) back to the client with an error.
    case redirect(AuthorizationResponse, OAuthError)
    case proceed(AuthorizationRequest)
}

/// An error that is shown on a page instead of being sent by redirect.
public struct AuthorizationPageError: Error, Sendable {
    /// `invalid_request`, `invalid_client`, `redirect_uri_mismatch` or `disallowed_useragent`.
    public let error: OAuthError
    /// The client. `nil` if the request names no known client.
    public let client: OAuthClient?
    public let languages: RequestedLanguages

    /// The reason shown on the page.
    public enum Reason: Sendable {
        case clientUnknown, redirectURIMismatch, embeddedBrowser, requestMalformed
    }

    public var reason: Reason {
        switch error.code {
        case .invalidClient: .clientUnknown
        case .redirectURIMismatch: .redirectURIMismatch
        case .disallowedUserAgent: .embeddedBrowser
        case .invalidRequest, .invalidGrant, .unauthorizedClient, .accessDenied, .unsupportedResponseType,
            .unsupportedGrantType, .invalidScope, .serverError, .temporarilyUnavailable, .invalidTarget,
            .invalidToken, .insufficientScope, .interactionRequired, .loginRequired, .consentRequired,
            .requestNotSupported, .requestURINotSupported, .authorizationPending, .slowDown, .expiredToken,
            .cancelled, .unrecoverable, .linkingError:
            .requestMalformed
        }
    }

    /// The HTTP status: 403 for a refused browser, otherwise 400.
    public var status: Int { error.code == .disallowedUserAgent ? 403 : 400 }
}

/// A valid request to `/oauth/authorize` (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1). The user has not
/// been asked for consent yet.
public struct AuthorizationRequest: Sendable {
    public let client: OAuthClient
    /// The response's destination, `state` and `iss`.
    public let response: AuthorizationResponse
    /// The requested scopes: all of the client's scopes if the request names none. Never empty.
    public let scopes: ScopeSet
    public let challenge: CodeChallenge?
    public let nonce: String?
    public let prompts: Set<Prompt>
    /// Maximum age of the user's sign-in at Apple, in seconds: the stricter of `max_age` and the client's
    /// `max_authentication_age`. `nil` means no limit.
    public let maxAge: Int64?
    /// An e-mail address or a subject. The page shows it to the user, who may choose another account.
    public let loginHint: String?
    /// An ID token of the intended user, whose signature has not been checked yet.
    public let idTokenHint: IDTokenHint.Unverified?
    public let languages: RequestedLanguages

    /// A value of `prompt`.
    public enum Prompt: String, Sendable, Hashable, CaseIterable {
        /// No page may be shown.
        case none
        /// The user must sign in again.
        case login
        /// The user must be asked for consent again.
        case consent
        case selectAccount = "select_account"
    }

    public var target: RedirectTarget { response.target }

    /// True if the user must sign in at Apple even with an existing browser session. `max_age=0` means the
    /// same as `prompt=login` (OpenID Connect Core §3.1.2.1).
    public var asksForSignIn: Bool {
        prompts.contains(.login) || prompts.contains(.selectAccount) || maxAge == 0
    }

    /// True if the consent page is shown even to users who have agreed to these scopes before.
    public var alwaysAsksForConsent: Bool {
        prompts.contains(.consent) || !client.kind.remembersConsent
    }
}

/// The limit on the age of the user's sign-in at Apple (OpenID Connect Core §3.1.2.1, `max_age`).
public struct AuthenticationAge: Sendable, Hashable {
    /// Maximum age in seconds. `nil` means no limit.
    public let longest: Int64?

    public init(longest: Int64?) {
        self.longest = longest
    }

    /// Returns true if an authentication is recent enough. An age equal to the limit is accepted.
    ///
    /// - Parameter moment: The authorization moment. `nil` if unknown, which is never recent enough.
    public func accepts(_ moment: Moment?, at now: Moment) -> Bool {
        guard let earliest = earliest(at: now) else { return true }
        return moment.map { $0 >= earliest } ?? false
    }

    /// Leeway for authentication times, in milliseconds, because the clock of the party that states them may
    /// be ahead of ours.
    public static let leeway: Int64 = 60_000

    /// Returns true if an authentication is further in the future than the leeway. It would otherwise count
    /// as recent for too long, and as later than every revocation.
    public static func isAhead(_ moment: Moment, of now: Moment) -> Bool {
        moment > now.advanced(byMilliseconds: leeway)
    }

    /// Returns the earliest authorization moment that is recent enough. Returns `nil` if there is no limit.
    public func earliest(at now: Moment) -> Moment? {
        longest.map { now.advanced(byMilliseconds: -$0 * 1000) }
    }
}
