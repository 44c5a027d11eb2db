import AppleAccounts
import AuthorizationServer

/// The next step of a valid request: a sign-in, the consent page, a code, a page about a disabled account, or
/// an error.
enum AuthorizeStep: Equatable {
    case signIn
    /// The consent page for the session's account.
    case ask(Account)
    case issue
    case tellDisabled
    case refuse(OAuthError.Code, String)
}

/// Facts about the user when a valid request arrives. They determine the next step, without side effects.
struct AuthorizeSituation {
    let request: AuthorizationRequest
    /// The request's unchanged query.
    let query: String
    /// The session from the cookie, even if it has expired.
    let session: BrowserSession?
    /// The origin of the ID token in the request; `nil` if there is none.
    var hint: SigningKeys.HintOrigin?
    /// The status of the session's account; `nil` if it was not read or the account does not exist.
    let status: AccountStatus?
    /// The user's existing grant to the client.
    let grant: GrantRecord?
    let now: Moment

    var step: AuthorizeStep {
        guard let session, isGood(session), isRecent(session), isMeant(session) else { return signInStep }
        if let status, status.isDisabled(at: now) {
            // `prompt=none` does not allow the service to show a page.
            let error = DisabledAccountNotice.error
            return request.prompts.contains(.none) ? .refuse(error.code, error.explanation) : .tellDisabled
        }
        guard let status, status.isAuthorized,
            // A revocation or a sign-out has ended all earlier sessions, even if the user has signed in
            // since.
            status.admits(authenticatedAt: session.authenticatedAt)
        else { return signInStep }
        let isHintMet = isHintMet(by: status.account)
        guard request.alwaysAsksForConsent || !isConsentGiven || !isHintMet else { return .issue }
        guard request.prompts.contains(.none) else { return .ask(status.account) }
        return isConsentGiven && !request.alwaysAsksForConsent
            ? .refuse(.interactionRequired, "The user must be told that another account is signed in.")
            : .refuse(.consentRequired, "The user must be asked for consent.")
    }

    /// True if the session is valid and recent, as far as can be checked without the store.
    var mayGoOn: Bool { session.map { isGood($0) && isRecent($0) } ?? false }

    /// The round trip to Apple for this request.
    var roundTrip: RoundTrip? { session?.roundTrip.flatMap { $0.isFor(query) ? $0 : nil } }

    var signInStep: AuthorizeStep {
        if request.prompts.contains(.none) {
            return .refuse(.loginRequired, "The user must sign in, and prompt=none forbids it.")
        }
        // The browser has already returned from Apple for this request. Another round trip would have the
        // same result, and the browser would be redirected endlessly. OpenID Connect Core §3.1.2.1 requires
        // an error if the end user cannot be authenticated again.
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
        // A user can spend sixty seconds on Apple's page, and this time must not make the sign-in too old for
        // a request with `max_age=60`.
        return roundTrip.map { session.isAuthenticated(since: $0.begunAt) } ?? false
    }

    /// Returns `true` if the session belongs to the user that the request's ID token names. If the token's
    /// origin is unknown, the user must sign in again.
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

    /// Returns `true` unless the hint names another account. A client without access to the user's address
    /// must not learn the right address from `prompt=none` or a missing page, so for such a client an address
    /// never matches.
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
    /// Returns true if the user signed in at or after `moment`. Compares whole seconds, as in Apple's tokens.
    func isAuthenticated(since moment: Moment) -> Bool {
        authenticatedAt.milliseconds / 1000 >= moment.milliseconds / 1000
    }
}

extension Account {
    /// Returns `false` only if the `login_hint` certainly names another account: another account's ID, or a
    /// different address if the account's own address is known.
    func isMeant(by hint: String) -> Bool {
        if hint.hasPrefix("acc_") { return hint == id.rawValue }
        // If Apple's token did not state whether the address is private, the address is compared. A relay
        // address is not compared, because no hint contains one.
        guard hint.contains("@"), let email, !(isPrivateEmail ?? false) else { return true }
        return hint.lowercased() == email.lowercased()
    }
}
