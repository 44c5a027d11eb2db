public import AppleAccounts

/// Decides about the parameters of a request to `/oauth/authorize`.
///
/// The order protects users: until client and redirect URI are known to belong together, nothing is sent to a
/// URI of the request, because such a redirect could lead anywhere (RFC 9700 §4.11.2).
public struct AuthorizationRequestCheck: Sendable {
    let settings: OAuthSettings

    public init(_ settings: OAuthSettings) {
        self.settings = settings
    }

    /// - Parameters:
    ///   - parameters: The bytes of the query of a `GET`, or the form of a `POST`.
    ///   - userAgent: The field `User-Agent` of the request.
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
            // A wrong client is reported before a missing redirect URI, so that developers find the two
            // errors in order.
            let (client, clientError) = client(reader)
            return page(clientError ?? error, client: client, languages: languages)
        }
        let (client, clientError) = client(reader)
        guard let client, let target = client.redirectTarget(for: uri) else {
            if let target = settings.clients.appFlipTarget(for: uri) {
                // These URIs belong to Google, which continues in the browser after this error.
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
            // Of several `state` values, none can be returned.
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

    /// Reads the hint. Unlike `login_hint`, the token decides who gets
    /// a response, so a malformed token is refused.
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
        // A code in a fragment or a form would bypass the redirect that the page's policy allows.
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
    /// A page for the user. The request has no trusted URI, or a redirect must not be sent from this browser.
    case page(AuthorizationPageError)
    /// A redirect back to the client with an error, by 303.
    case redirect(AuthorizationResponse, OAuthError)
    case proceed(AuthorizationRequest)
}

/// An error that is shown as a page instead of a redirect.
public struct AuthorizationPageError: Error, Sendable {
    /// `invalid_request`, `invalid_client`, `redirect_uri_mismatch` or `disallowed_useragent`.
    public let error: OAuthError
    /// The client; `nil` when the request names no known client.
    public let client: OAuthClient?
    public let languages: RequestedLanguages

    /// The reason, as shown on the page.
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

/// A valid request to `/oauth/authorize` (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1). The
/// end user has not been asked for consent yet.
public struct AuthorizationRequest: Sendable {
    public let client: OAuthClient
    /// The destination of the response, and its `state` and `iss`.
    public let response: AuthorizationResponse
    /// Requested scopes: all of the client's scopes when the request named none. Never empty.
    public let scopes: ScopeSet
    public let challenge: CodeChallenge?
    public let nonce: String?
    public let prompts: Set<Prompt>
    /// Largest age in seconds of the user's sign-in at Apple: the stricter of `max_age` and the client's
    /// `max_authentication_age`. `nil` means no bound.
    public let maxAge: Int64?
    /// An e-mail address or a subject. The page shows it to the user, who can choose another account.
    public let loginHint: String?
    /// An ID token of the intended user. Its signature is not checked yet.
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

    /// True if the user must sign in at Apple even if there is a session. `max_age=0` is `prompt=login`
    /// (OpenID Connect Core §3.1.2.1).
    public var asksForSignIn: Bool {
        prompts.contains(.login) || prompts.contains(.selectAccount) || maxAge == 0
    }

    /// True if the consent page is shown even if the user has agreed to these scopes before.
    public var alwaysAsksForConsent: Bool {
        prompts.contains(.consent) || !client.kind.remembersConsent
    }
}

/// The bound on the age of the user's sign-in at Apple (OpenID Connect Core §3.1.2.1, `max_age`).
public struct AuthenticationAge: Sendable, Hashable {
    /// Largest age in seconds. `nil` means no bound.
    public let longest: Int64?

    public init(longest: Int64?) {
        self.longest = longest
    }

    /// Returns true if an authentication is recent enough. An
    /// authentication exactly as old as the bound is accepted.
    ///
    /// - Parameter moment: The authorization moment. An unknown moment, `nil`, is never recent.
    public func accepts(_ moment: Moment?, at now: Moment) -> Bool {
        guard let earliest = earliest(at: now) else { return true }
        return moment.map { $0 >= earliest } ?? false
    }

    /// Milliseconds by which the clock that states an authentication may be ahead of ours.
    public static let leeway: Int64 = 60_000

    /// Returns true if an authentication lies in the future by more than the leeway. It would be
    /// recent forever, and younger than every revocation.
    public static func isAhead(_ moment: Moment, of now: Moment) -> Bool {
        moment > now.advanced(byMilliseconds: leeway)
    }

    /// Returns the earliest authorization moment that is recent enough; `nil` without a bound.
    public func earliest(at now: Moment) -> Moment? {
        longest.map { now.advanced(byMilliseconds: -$0 * 1000) }
    }
}
