public import AppleAccounts
public import StrictJSON

/// Checks an App Flip call: the redirect URI, the caller, the client, the parameters, and finally the user's
/// decision, in this order.
///
/// The redirect URI comes first, because every later error is sent there, to Google, and linking then
/// continues in the browser. This is safe even for an unknown client, because the URIs belong to Google.
public struct AppFlipCheck: Sendable {
    let clients: ClientRegistry
    private let languages: PageLanguages

    public init(_ settings: OAuthSettings) {
        (clients, languages) = (settings.clients, settings.languages)
    }

    /// Checks the redirect URI, the caller, the client and the parameters, which do not depend on the user's
    /// decision.
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

    /// Reads the parameters. Throws `invalid_request` for any fault. The error is sent to Google.
    private func link(
        of call: AppFlipRequestBody, _ client: OAuthClient?, _ response: AuthorizationResponse,
        _ language: PageLanguage
    ) throws(OAuthError) -> AppFlipLink {
        guard let client, client.hasAppFlip, client.redirectTarget(for: response.target.text) != nil else {
            throw OAuthError(.invalidRequest, "The client is unknown here or has no App Flip.")
        }
        // An intent has no state, because its result goes directly to the activity that started the app.
        let isIntent = response.target.form == .googleProject
        guard Self.value(call.state) != nil || isIntent else {
            throw OAuthError(.invalidRequest, "The parameter state is missing.")
        }
        guard response.state != nil || Self.value(call.state) == nil else {
            throw OAuthError(
                .invalidRequest, "The parameter state has more than \(RequestState.longest) bytes.")
        }
        // Without this parameter, the link requests all of the client's scopes, as at the authorization
        // endpoint.
        var scopes = client.scopes
        if let scope = Self.value(call.scope) {
            guard let requested = ScopeSet(parsing: scope), requested.isSubset(of: client.scopes) else {
                throw OAuthError(.invalidRequest, "The parameter scope names an unknown scope.")
            }
            scopes = client.completed(requested)
        }
        // Google sends no code challenge yet. Once it does, the app's backend must include it in the call.
        let challenge = try ProofKeyCheck(rule: .optional, allowsPlain: false).challenge(
            Self.value(call.codeChallenge), method: Self.value(call.codeChallengeMethod))
        return AppFlipLink(
            client: client, response: response, scopes: client.completed(scopes), challenge: challenge,
            language: language)
    }

    /// Returns the value. A universal link parameter without a value is treated as absent (RFC 6749 §3.1).
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

/// The unchecked members of the app backend's request `POST /v1/oauth/app-flip`. The prompt request has only
/// the link's members, the account, and the account's sign-in time.
public struct AppFlipRequestBody: Sendable, Confidential {
    // Parameters from the universal link.
    public var clientID: String?
    public var redirectURI: String?
    public var state: String?
    public var scope: String?
    public var codeChallenge: String?
    public var codeChallengeMethod: String?
    public var userLocale: String?
    /// The app's `Accept-Language`. It applies if the pages do not support `user_locale`.
    public var acceptLanguage: String?
    /// The user's decision in the app: `granted`, `denied` or `cancelled`.
    public var decision: String?
    /// A subset of `scope`. Empty if the user granted no scope. `nil` means the whole scope.
    public var grantedScopes: String?
    // The user's identity.
    public var identityToken: String?
    public var nonce: String?
    public var accountID: String?
    public var authenticatedAt: Moment?
    // The request's claims about the app.
    /// The member as received: an unchecked App Attest proof.
    public var attestation: JSONValue?
    public var appVersion: String?

    public init() {}
}

/// App Flip link parameters that passed every check. The app has not asked the user yet.
public struct AppFlipLink: Sendable {
    public let client: OAuthClient
    public let response: AuthorizationResponse
    /// The scopes that the link requests. Never empty.
    public let scopes: ScopeSet
    public let challenge: CodeChallenge?
    public let language: PageLanguage

    /// The limit on the age of the user's authentication.
    public var authenticationAge: AuthenticationAge {
        AuthenticationAge(longest: client.maxAuthenticationAge)
    }

    /// True for an Android intent. The app then opens no URL, but passes the result to Google's app.
    public var isIntent: Bool { response.target.form == .googleProject }

    public func response(code: String) -> AppFlipResponse {
        AppFlipResponse(
            redirectTo: response.location(code: code), outcome: .code,
            message: AppFlipOutcome.code.message(in: language), code: isIntent ? code : nil)
    }

    /// Returns the response without a code.
    public func response(_ obstacle: AppFlipObstacle) -> AppFlipResponse {
        AppFlipResponse(refusing: obstacle, by: response, language: language)
    }
}

/// An App Flip call that has passed every check except the check of the user's identity.
public struct AppFlipRequest: Sendable {
    public let link: AppFlipLink
    /// The scopes that the user granted. Never empty.
    public let scopes: ScopeSet
    public let identity: Identity

    /// The user's identity, as claimed by the app's backend.
    public enum Identity: Sendable, Confidential {
        /// An identity token, which is verified as for any sign-in.
        case identityToken(String, nonce: String?)
        /// - Parameter authenticatedAt: Time of the authentication. `nil` if the backend does not state it,
        ///   which clients with `max_authentication_age` do not accept.
        case account(String, authenticatedAt: Moment?)
    }
}

/// The decision about an App Flip call, before the identity is checked.
public enum AppFlipDecision: Sendable {
    /// An error for the app's backend, without a URL for the app to open.
    case refuse(AppFlipRefusal)
    case response(AppFlipResponse)
    case proceed(AppFlipRequest)
}

/// The decision about App Flip link parameters, before the app asks the user.
public enum AppFlipLinkDecision: Sendable {
    /// An error for the app's backend, without a URL for the app to open.
    case refuse(AppFlipRefusal)
    case response(AppFlipResponse)
    case ask(AppFlipLink)
}

/// Reasons for a response without a URL for the app to open.
public enum AppFlipRefusal: String, Error, Sendable, CaseIterable {
    /// 400. The redirect URI is missing or not an App Flip URI, so it does not lead to Google.
    case redirectURIMismatch = "redirect_uri_mismatch"
    /// 403. The API key is not valid for the client's app.
    case callerForbidden = "caller_forbidden"
    /// 400. `decision` is missing.
    case decisionMissing = "decision_missing"
    /// 400. `decision` is not one of the three allowed words.
    case decisionUnknown = "decision_unknown"
    /// 400. The call has both an identity token and an account ID, which might belong to different users.
    case identityAmbiguous = "identity_ambiguous"
}

/// Reasons why a user who has agreed gets no code.
public enum AppFlipObstacle: Sendable, Hashable, CaseIterable {
    case identityMissing
    /// The identity token could not be verified, or the sign-in with it was refused.
    case identityRefused
    /// The authentication is older than the client's `max_authentication_age`.
    case authenticationTooOld
    /// The authentication time that the backend states is in the future. The backend's clock is wrong, or it
    /// does not know when the user signed in.
    case authenticationAhead
    /// The credential is revoked. A new sign-in would authorize it again.
    case credentialRevoked
    /// The account was linked too often within the hour. Google continues in the browser, where the user is
    /// asked to try again later.
    case tooManyGrants
    /// The database or another dependency is unavailable.
    case unavailable
    case accountErased, accountBeingErased, appleAccountDeleted
    /// The app's operator has disabled the account.
    case accountDisabled

    /// The outcome for Google: continue in the browser, or stop linking.
    public var outcome: AppFlipOutcome {
        switch self {
        case .identityMissing, .identityRefused, .authenticationTooOld, .authenticationAhead,
            .credentialRevoked, .tooManyGrants, .unavailable:
            .cancelled
        case .accountErased, .accountBeingErased, .appleAccountDeleted, .accountDisabled: .unrecoverable
        }
    }

    /// True if the user can be linked after signing in with Apple again in the app.
    public var endsWithSignIn: Bool {
        switch self {
        case .identityMissing, .identityRefused, .authenticationTooOld, .credentialRevoked: true
        case .authenticationAhead, .tooManyGrants, .unavailable, .accountErased, .accountBeingErased,
            .appleAccountDeleted, .accountDisabled:
            false
        }
    }
}
