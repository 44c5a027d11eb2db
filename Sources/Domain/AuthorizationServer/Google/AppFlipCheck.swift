public import AppleAccounts

/// Decides about an App Flip call: redirect URI, caller, client and parameters, and the user's decision, in
/// this order.
///
/// The redirect URI is first, because every later error goes there to Google, so that linking continues in
/// the browser. This is safe even for an unknown client: the URIs belong to Google.
public struct AppFlipCheck: Sendable {
    let clients: ClientRegistry
    private let languages: PageLanguages

    public init(_ settings: OAuthSettings) {
        (clients, languages) = (settings.clients, settings.languages)
    }

    /// Decides about the redirect URI, the caller, and client and parameters: the first three of the checks,
    /// which need no user.
    ///
    /// - Parameter caller: The apps that the API key may use.
    public func link(_ call: AppFlipRequestBody, caller: AppScope) -> AppFlipLinkDecision {
        guard let uri = call.redirectURI,
            let target = clients.appFlipTarget(for: uri) ?? clients.intentTarget(for: uri)
        else { return .refuse(.redirectURIMismatch) }
        let client = call.clientID.flatMap { clients[$0] }
        if let client, !caller.allows(client.app) { return .refuse(.callerForbidden) }

        let language = RequestedLanguages(tags: [call.userLocale].compactMap(\.self))
            .language(among: languages, acceptLanguage: call.acceptLanguage)
        let response = AuthorizationResponse(
            target: target, state: call.state.flatMap { RequestState(text: $0) }, issuer: nil)
        do throws(OAuthError) {
            return .ask(try link(of: call, client, response, language))
        } catch {
            return .response(AppFlipResponse(refusing: error, by: response, language: language))
        }
    }

    /// - Parameter caller: The apps that the API key may use.
    public func check(_ call: AppFlipRequestBody, caller: AppScope) -> AppFlipDecision {
        switch link(call, caller: caller) {
        case .refuse(let refusal): .refuse(refusal)
        case .response(let response): .response(response)
        case .ask(let link): answer(call, link)
        }
    }

    private func answer(_ call: AppFlipRequestBody, _ link: AppFlipLink) -> AppFlipDecision {
        func refused(_ outcome: AppFlipOutcome) -> AppFlipDecision {
            .response(AppFlipResponse(refusing: outcome, by: link.response, language: link.language))
        }
        let granted: ScopeSet
        do throws(OAuthError) {
            granted = link.client.completed(try self.granted(call, of: link.scopes))
        } catch {
            return .response(
                AppFlipResponse(refusing: error, by: link.response, language: link.language))
        }
        switch call.decision {
        case "granted": break
        case "denied": return refused(.accessDenied)
        case "cancelled": return refused(.cancelled)
        case nil: return .refuse(.decisionMissing)
        default: return .refuse(.decisionUnknown)
        }
        guard !granted.isEmpty else { return refused(.accessDenied) }
        let identity: AppFlipRequest.Identity
        switch (call.identityToken, call.accountID) {
        case (let token?, nil): identity = .identityToken(token, nonce: call.nonce)
        case (nil, let id?): identity = .account(id, authenticatedAt: call.authenticatedAt)
        case (nil, nil): return .response(link.response(.identityMissing))
        case (_?, _?): return .refuse(.identityAmbiguous)
        }
        return .proceed(AppFlipRequest(link: link, scopes: granted, identity: identity))
    }

    /// Reads the parameters. Every fault in them is `invalid_request` for Google.
    private func link(
        of call: AppFlipRequestBody, _ client: OAuthClient?, _ response: AuthorizationResponse,
        _ language: PageLanguage
    ) throws(OAuthError) -> AppFlipLink {
        guard let client, client.hasAppFlip, client.redirectTarget(for: response.target.text) != nil else {
            throw OAuthError(.invalidRequest, "The client is unknown here or has no App Flip.")
        }
        // An intent has no state: the result goes to the activity that has started the app.
        let isIntent = response.target.form == .googleProject
        guard Self.value(call.state) != nil || isIntent else {
            throw OAuthError(.invalidRequest, "The parameter state is missing.")
        }
        guard response.state != nil || Self.value(call.state) == nil else {
            throw OAuthError(
                .invalidRequest, "The parameter state has more than \(RequestState.longest) bytes.")
        }
        // Without the parameter the client requests all of its scopes, as at the authorization endpoint.
        var scopes = client.scopes
        if let scope = Self.value(call.scope) {
            guard let requested = ScopeSet(parsing: scope), requested.isSubset(of: client.scopes) else {
                throw OAuthError(.invalidRequest, "The parameter scope names an unknown scope.")
            }
            scopes = client.completed(requested)
        }
        // Google sends no challenge yet. The backend must pass on a challenge that Google does send.
        let challenge = try ProofKeyCheck(rule: .optional, allowsPlain: false).challenge(
            Self.value(call.codeChallenge), method: Self.value(call.codeChallengeMethod))
        return AppFlipLink(
            client: client, response: response, scopes: client.completed(scopes), challenge: challenge,
            language: language)
    }

    /// A parameter of the universal link without a value is absent (RFC 6749 §3.1).
    private static func value(_ text: String?) -> String? { text?.isEmpty == true ? nil : text }

    private func granted(_ call: AppFlipRequestBody, of scopes: ScopeSet) throws(OAuthError) -> ScopeSet {
        guard let text = call.grantedScopes else { return scopes }
        if text.isEmpty { return ScopeSet([]) }
        guard let granted = ScopeSet(parsing: text), granted.isSubset(of: scopes) else {
            throw OAuthError(.invalidRequest, "The granted scopes must be some of the requested ones.")
        }
        return granted
    }
}
