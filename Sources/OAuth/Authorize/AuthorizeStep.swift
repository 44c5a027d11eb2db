import AppleAccounts
import AuthorizationServer

/// What comes next for a valid request: a sign-in, the question, the code, or an error.
enum AuthorizeStep: Equatable {
    case signIn
    /// The question, with the account that answers it.
    case ask(Account)
    case issue
    case refuse(OAuthError.Code, String)
}

/// What is known of the person when a valid request arrives. It decides, and does nothing.
struct AuthorizeSituation {
    let request: AuthorizationRequest
    /// Of the request, as it came.
    let query: String
    /// As the cookie had it, also when it is over.
    let session: BrowserSession?
    /// Of the session's account; `nil` when it was not looked for, and when there is none.
    let standing: AccountStanding?
    /// What the person has granted to the client before.
    let grant: GrantRecord?
    let now: Moment

    var step: AuthorizeStep {
        guard let session, isGood(session), isRecent(session) else { return signInStep }
        guard let standing, standing.isAuthorized,
            // A session from before a revocation ended with it, also when the person has signed in since.
            standing.credential.admits(authorizationAt: session.authenticatedAt)
        else { return signInStep }
        let isHintMet = isHintMet(by: standing.account)
        guard request.alwaysAsksForConsent || !isConsentGiven || !isHintMet else { return .issue }
        guard request.prompts.contains(.none) else { return .ask(standing.account) }
        return isConsentGiven && !request.alwaysAsksForConsent
            ? .refuse(.interactionRequired, "The person must be told that another account is signed in.")
            : .refuse(.consentRequired, "The person must be asked for consent.")
    }

    /// Whether the session may answer without anything from the store.
    var mayGoOn: Bool { session.map { isGood($0) && isRecent($0) } ?? false }

    /// The round trip to Apple that was made for this request.
    var roundTrip: RoundTrip? { session?.roundTrip.flatMap { $0.isFor(query) ? $0 : nil } }

    var signInStep: AuthorizeStep {
        if request.prompts.contains(.none) {
            return .refuse(.loginRequired, "The person must sign in, and prompt=none forbids it.")
        }
        // The browser was at Apple for this request, and another time would end the same: OpenID Connect Core
        // §3.1.2.1 asks for an error when the person cannot be authenticated again. Never a loop.
        guard roundTrip == nil else {
            return .refuse(.loginRequired, "The sign-in at Apple is not one that this request accepts.")
        }
        return .signIn
    }

    private func isGood(_ session: BrowserSession) -> Bool {
        session.isGood(for: request.client.app, at: now)
    }

    /// Whether the authentication is recent enough for `prompt`, `max_age` and the client.
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
        // Sixty seconds at Apple's page must not make a sign-in too old for max_age=60, which asked for it.
        return roundTrip.map { session.isAuthenticated(since: $0.begunAt) } ?? false
    }

    private var isConsentGiven: Bool {
        grantedScopes.map { request.scopes.isSubset(of: $0) } ?? false
    }

    private var grantedScopes: ScopeSet? { grant.flatMap { ScopeSet(parsing: $0.scope) } }

    /// Whether the hint can be this account, as far as the client may know: without the address of the
    /// person, no address in a hint is met. The client would otherwise learn by `prompt=none`, or by the
    /// missing page, which address is right.
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
    fileprivate func isAuthenticated(since moment: Moment) -> Bool {
        authenticatedAt.milliseconds / 1000 >= moment.milliseconds / 1000
    }
}

extension Account {
    /// Whether a `login_hint` can be this account. Only a hint that names another one surely is not: an
    /// account's ID, or an address where the account's own one is known.
    func isMeant(by hint: String) -> Bool {
        if hint.hasPrefix("acc_") { return hint == id.rawValue }
        // Apple can leave out whether an address is private. A relay address is never the one of a hint.
        guard hint.contains("@"), let email, !(isPrivateEmail ?? false) else { return true }
        return hint.lowercased() == email.lowercased()
    }
}
