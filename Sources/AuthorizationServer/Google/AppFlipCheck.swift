public import AppleAccounts

/// Decides about an App Flip call: redirect URI, caller, client and parameters, and the user's decision, in
/// this order.
///
/// The redirect URI is first, because every later error goes there to Google, so that linking continues in
/// the browser. This is safe even for an unknown client: the URIs belong to Google.
public struct AppFlipCheck: Sendable {
    let clients: ClientRegistry

    public init(_ clients: ClientRegistry) {
        self.clients = clients
    }

    /// - Parameter caller: The apps that the API key may use.
    public func check(_ call: AppFlipRequestBody, caller: AppScope) -> AppFlipDecision {
        guard let uri = call.redirectURI, let target = clients.appFlipTarget(for: uri) else {
            return .refuse(.redirectURIMismatch)
        }
        let client = call.clientID.flatMap { clients[$0] }
        if let client, !caller.allows(client.app) { return .refuse(.callerForbidden) }

        let language = call.userLocale.flatMap { PageLanguage(tag: $0) } ?? .english
        let response = AuthorizationResponse(
            target: target, state: call.state.flatMap { RequestState(text: $0) }, issuer: nil)
        let parameters: Parameters
        do throws(OAuthError) {
            parameters = try self.parameters(of: call, client, response)
        } catch {
            return .response(AppFlipResponse(refusing: error, by: response, language: language))
        }
        switch call.decision {
        case "granted": break
        case "denied":
            return .response(AppFlipResponse(refusing: .accessDenied, by: response, language: language))
        case "cancelled":
            return .response(AppFlipResponse(refusing: .cancelled, by: response, language: language))
        case nil: return .refuse(.decisionMissing)
        default: return .refuse(.decisionUnknown)
        }
        guard !parameters.granted.isEmpty else {
            return .response(AppFlipResponse(refusing: .accessDenied, by: response, language: language))
        }
        let identity: AppFlipRequest.Identity
        switch (call.identityToken, call.accountID) {
        case (let token?, nil): identity = .identityToken(token, nonce: call.nonce)
        case (nil, let id?): identity = .account(id, authenticatedAt: call.authenticatedAt)
        case (nil, nil):
            return .response(
                AppFlipResponse(
                    refusing: AppFlipObstacle.identityMissing.outcome, by: response, language: language))
        case (_?, _?): return .refuse(.identityAmbiguous)
        }
        return .proceed(
            AppFlipRequest(
                client: parameters.client, response: response, scopes: parameters.granted,
                challenge: parameters.challenge, identity: identity, language: language))
    }

    private struct Parameters {
        let client: OAuthClient
        let granted: ScopeSet
        let challenge: CodeChallenge?
    }

    /// Reads the parameters. Every fault in them is `invalid_request` for Google.
    private func parameters(
        of call: AppFlipRequestBody, _ client: OAuthClient?, _ response: AuthorizationResponse
    ) throws(OAuthError) -> Parameters {
        guard let client, client.hasAppFlip, client.redirectTarget(for: response.target.text) != nil else {
            throw OAuthError(.invalidRequest, "The client is unknown here or has no App Flip.")
        }
        guard Self.value(call.state) != nil else {
            throw OAuthError(.invalidRequest, "The parameter state is missing.")
        }
        guard response.state != nil else {
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
        let granted = client.completed(try granted(call, of: scopes))
        return Parameters(client: client, granted: granted, challenge: challenge)
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
