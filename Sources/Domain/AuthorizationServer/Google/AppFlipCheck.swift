public import AppleAccounts
public import StrictJSON

/// Decides about an App Flip call. It checks the redirect URI, the caller, the client and
/// parameters, and the user's decision, in this order.
///
/// The redirect URI is first, because every later error goes to it at Google, so that linking continues in
/// the browser. This is safe even for an unknown client: the URIs belong to Google.
public struct AppFlipCheck: Sendable {
    let clients: ClientRegistry
    private let languages: PageLanguages

    public init(_ settings: OAuthSettings) {
        (clients, languages) = (settings.clients, settings.languages)
    }

    /// Checks the redirect URI, the caller, and the client and
    /// parameters: the first three checks, which need no user.
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
        // An intent has no state: the result goes to the activity that started the app.
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
        // Google sends no challenge yet. If Google sends a challenge, the backend must pass it on.
        let challenge = try ProofKeyCheck(rule: .optional, allowsPlain: false).challenge(
            Self.value(call.codeChallenge), method: Self.value(call.codeChallengeMethod))
        return AppFlipLink(
            client: client, response: response, scopes: client.completed(scopes), challenge: challenge,
            language: language)
    }

    /// Returns the value. A parameter of the universal link without a value is absent (RFC 6749 §3.1).
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

/// The members of `POST /v1/oauth/app-flip` as the backend of the app posts them, unchecked. The prompt has
/// the members of the link, the account and the time of its sign-in.
public struct AppFlipRequestBody: Sendable, Confidential {
    // Parameters of the universal link.
    public var clientID: String?
    public var redirectURI: String?
    public var state: String?
    public var scope: String?
    public var codeChallenge: String?
    public var codeChallengeMethod: String?
    public var userLocale: String?
    /// The `Accept-Language` of the app, for a `user_locale` that the pages do not support.
    public var acceptLanguage: String?
    /// The user's decision in the app: `granted`, `denied` or `cancelled`.
    public var decision: String?
    /// A part of `scope`; empty when the user has granted no scope. `nil` means the whole scope.
    public var grantedScopes: String?
    // The user's identity.
    public var identityToken: String?
    public var nonce: String?
    public var accountID: String?
    public var authenticatedAt: Moment?
    // Statements of the request about the app.
    /// The member as posted: a proof of App Attest, unchecked.
    public var attestation: JSONValue?
    public var appVersion: String?

    public init() {}
}

/// The parameters of an App Flip link that passed every check, before the user is asked.
public struct AppFlipLink: Sendable {
    public let client: OAuthClient
    public let response: AuthorizationResponse
    /// Scopes that the link requests. Never empty.
    public let scopes: ScopeSet
    public let challenge: CodeChallenge?
    public let language: PageLanguage

    /// The bound on the age of the authentication.
    public var authenticationAge: AuthenticationAge {
        AuthenticationAge(longest: client.maxAuthenticationAge)
    }

    /// True for an intent of Android: no URL is opened, and the app passes the result to Google's app.
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

/// An App Flip call that has passed every check except the check of the identity.
public struct AppFlipRequest: Sendable {
    public let link: AppFlipLink
    /// Scopes that the user has granted. Never empty.
    public let scopes: ScopeSet
    public let identity: Identity

    /// The user's identity, according to the app's backend.
    public enum Identity: Sendable, Confidential {
        /// An identity token, which is verified as at every sign-in.
        case identityToken(String, nonce: String?)
        /// - Parameter authenticatedAt: Time of the authentication; `nil` when the backend does not state it.
        ///   An unknown time is too old for a client with `max_authentication_age`.
        case account(String, authenticatedAt: Moment?)
    }
}

/// The decision about an App Flip call, before the identity is checked.
public enum AppFlipDecision: Sendable {
    /// An error of the interface, without a URL to open.
    case refuse(AppFlipRefusal)
    case response(AppFlipResponse)
    case proceed(AppFlipRequest)
}

/// The decision about the parameters of an App Flip link, before the user is asked.
public enum AppFlipLinkDecision: Sendable {
    /// An error of the interface, without a URL to open.
    case refuse(AppFlipRefusal)
    case response(AppFlipResponse)
    case ask(AppFlipLink)
}

/// Reasons for a response without a URL to open.
public enum AppFlipRefusal: String, Error, Sendable, CaseIterable {
    /// 400. The redirect URI is missing, or is not a URI of App Flip, so it does not lead to Google.
    case redirectURIMismatch = "redirect_uri_mismatch"
    /// 403. The API key is for apps other than the client's app.
    case callerForbidden = "caller_forbidden"
    /// 400. `decision` is missing.
    case decisionMissing = "decision_missing"
    /// 400. `decision` is not one of the three words.
    case decisionUnknown = "decision_unknown"
    /// 400. The call has both an identity token and an account ID, which could belong to two users.
    case identityAmbiguous = "identity_ambiguous"
}

/// Reasons for which a user who has agreed gets no code.
public enum AppFlipObstacle: Sendable, Hashable, CaseIterable {
    case identityMissing
    /// The identity token did not pass its verification, or the sign-in with it was refused.
    case identityRefused
    /// The authentication is older than the client's `max_authentication_age`.
    case authenticationTooOld
    /// The backend states an authentication in the future. Its clock is wrong, or it
    /// does not know the time of the user's sign-in.
    case authenticationAhead
    /// The credential is revoked. A new sign-in authorizes it again.
    case credentialRevoked
    /// The account was linked too often within an hour. Google shows
    /// in the browser that the user should try later.
    case tooManyGrants
    /// The database cannot be reached, or another dependency failed.
    case unavailable
    case accountErased, accountBeingErased, appleAccountDeleted
    /// The app's operator has disabled the account.
    case accountDisabled

    /// The outcome for Google: continue in the browser, or end.
    public var outcome: AppFlipOutcome {
        switch self {
        case .identityMissing, .identityRefused, .authenticationTooOld, .authenticationAhead,
            .credentialRevoked, .tooManyGrants, .unavailable:
            .cancelled
        case .accountErased, .accountBeingErased, .appleAccountDeleted, .accountDisabled: .unrecoverable
        }
    }

    /// True if the user can be linked after a new sign-in with Apple in the app.
    public var endsWithSignIn: Bool {
        switch self {
        case .identityMissing, .identityRefused, .authenticationTooOld, .credentialRevoked: true
        case .authenticationAhead, .tooManyGrants, .unavailable, .accountErased, .accountBeingErased,
            .appleAccountDeleted, .accountDisabled:
            false
        }
    }
}
