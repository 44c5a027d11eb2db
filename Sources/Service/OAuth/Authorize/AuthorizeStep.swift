import AppleAccounts
import AuthorizationServer

/// The next step of a valid request: a sign-in, the consent page, the code, a page about a disabled account, or
/// an error.
enum AuthorizeStep: Equatable {
    case signIn
    /// The consent page, with the account of the session.
    case ask(Account)
    case issue
    case tellDisabled
    case refuse(OAuthError.Code, String)
}

/// Facts about the user at the arrival of a valid request. Decides on the next step, and has no side effects.
struct AuthorizeSituation {
    let request: AuthorizationRequest
    /// The query of the request, unchanged.
    let query: String
    /// The session of the cookie, even if it has expired.
    let session: BrowserSession?
    /// The origin of the request's ID token; `nil` without one.
    var hint: SigningKeys.HintOrigin?
    /// The status of the session's account; `nil` when it was not read, and when there is no account.
    let status: AccountStatus?
    /// The existing grant of the user to the client.
    let grant: GrantRecord?
    let now: Moment

    var step: AuthorizeStep {
        guard let session, isGood(session), isRecent(session), isMeant(session) else { return signInStep }
        if let status, status.isDisabled(at: now) {
            // `prompt=none` allows no page.
            let error = DisabledAccountNotice.error
            return request.prompts.contains(.none) ? .refuse(error.code, error.explanation) : .tellDisabled
        }
        guard let status, status.isAuthorized,
            // A revocation or a sign-out has ended earlier sessions, even if the user has signed in since.
            status.admits(authenticatedAt: session.authenticatedAt)
        else { return signInStep }
        let isHintMet = isHintMet(by: status.account)
        guard request.alwaysAsksForConsent || !isConsentGiven || !isHintMet else { return .issue }
        guard request.prompts.contains(.none) else { return .ask(status.account) }
        return isConsentGiven && !request.alwaysAsksForConsent
            ? .refuse(.interactionRequired, "The user must be told that another account is signed in.")
            : .refuse(.consentRequired, "The user must be asked for consent.")
    }

    /// True if the session is valid and recent, judged without the store.
    var mayGoOn: Bool { session.map { isGood($0) && isRecent($0) } ?? false }

    /// The round trip to Apple that was made for this request.
    var roundTrip: RoundTrip? { session?.roundTrip.flatMap { $0.isFor(query) ? $0 : nil } }

    var signInStep: AuthorizeStep {
        if request.prompts.contains(.none) {
            return .refuse(.loginRequired, "The user must sign in, and prompt=none forbids it.")
        }
        // The browser was at Apple for this request, and another round trip would
        // have the same result: OpenID Connect Core §3.1.2.1 requires an error
        // when the end user cannot be authenticated again. This prevents a loop.
        guard roundTrip == nil else {
            return .refuse(.loginRequired, "The sign-in at Apple is not one that this request accepts.")
        }
        return .signIn
    }

    private func isGood(_ session: BrowserSession) -> Bool {
        session.isGood(for: request.client.app, at: now)
    }

    /// Returns `true` if the authentication is recent enough for `prompt`, `max_age` and the client.
    private func isRecent(_ session: BrowserSession) -> Bool {
        if request.asksForSignIn {
            guard let roundTrip else { return false }
            guard !request.prompts.contains(.login) || session.isAuthenticated(since: roundTrip.begunAt)
            else {
                return false
            }
        }
        if AuthenticationAge(longest: request.maxAge).accepts(session.authenticatedAt, at: now) {
            return true
        }
        // Sixty seconds at Apple's page must not make the sign-in too old for a request with `max_age=60`.
        return roundTrip.map { session.isAuthenticated(since: $0.begunAt) } ?? false
    }

    /// Returns `true` if the session belongs to the user named by the request's ID token. A token that cannot
    /// be judged counts as naming a user who is signed out: then only a sign-in for this request counts.
    private func isMeant(_ session: BrowserSession) -> Bool {
        switch hint {
        case nil: true
        case .genuine(let hint): hint.accountID == session.accountID
        case .unknown: roundTrip != nil
        case .foreign: false
        }
    }

    private var isConsentGiven: Bool {
        grantedScopes.map { request.scopes.isSubset(of: $0) } ?? false
    }

    private var grantedScopes: ScopeSet? { grant.flatMap { ScopeSet(parsing: $0.scope) } }

    /// Returns `true` if the hint can be this account, as far as the client may know. Without access to the
    /// user's address, no address in a hint matches: otherwise the client would learn by `prompt=none`, or by
    /// the missing page, which address is right.
    private func isHintMet(by account: Account) -> Bool {
        guard let hint = request.loginHint else { return true }
        guard hint.hasPrefix("acc_") || !hint.contains("@") || mayKnowEmail else { return false }
        return account.isMeant(by: hint)
    }

    private var mayKnowEmail: Bool {
        request.client.scopes.contains(.email) && grantedScopes?.contains(.email) ?? false
    }
}

extension BrowserSession {
    /// Apple's tokens have whole seconds, so the second in which the browser left counts.
    func isAuthenticated(since moment: Moment) -> Bool {
        authenticatedAt.milliseconds / 1000 >= moment.milliseconds / 1000
    }
}

extension Account {
    /// Returns `false` only for a `login_hint` that certainly names another account: an account's ID, or an
    /// address, if the account's own address is known.
    func isMeant(by hint: String) -> Bool {
        if hint.hasPrefix("acc_") { return hint == id.rawValue }
        // Apple can omit whether an address is private; the address is then compared. A relay address is not
        // compared, because no hint contains it.
        guard hint.contains("@"), let email, !(isPrivateEmail ?? false) else { return true }
        return hint.lowercased() == email.lowercased()
    }
}
