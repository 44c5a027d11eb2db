import AppleAccounts
import AuthorizationServer
import Commits
import Cryptography
import SignIn

/// A browser's valid request. Carries out the steps that `AuthorizeSituation` determines.
struct AuthorizeVisit: Sendable {
    let useCase: AuthorizeUseCase
    let request: AuthorizationRequest
    let query: String
    /// The session from the cookie, even if it has expired.
    var session: BrowserSession?
    let webCookie: String?
    let now: Moment
    /// The origin of the ID token in the request; `nil` before it is judged and if there is no ID token.
    var hint: SigningKeys.HintOrigin?

    func begin() -> Step<AuthorizeOutcome> {
        if hint == nil, let token = request.idTokenHint { return .work { try await begin(judging: token) } }
        let stranger = situation(status: nil, grant: nil)
        guard let session, stranger.mayGoOn else { return .now(withoutSession(stranger)) }
        return .later {
            do {
                return try await withSession(session)
            } catch {
                return try unavailable(error)
            }
        }
    }

    private func begin(judging token: IDTokenHint.Unverified) async throws -> Step<AuthorizeOutcome> {
        var visit = self
        do {
            let origin = try await useCase.keys.origin(of: token, issuer: useCase.issuer)
            guard origin != .foreign else {
                return .now(AuthorizeOutcome(.idTokenHintRefused, by: request.response))
            }
            visit.hint = origin
        } catch {
            return .now(try unavailable(error))
        }
        return visit.begin()
    }

    /// Handles the posted form. Does not judge the hint, because the form's token is bound to the account
    /// that the page showed.
    func response(_ form: ConsentForm) -> Step<AuthorizeOutcome> {
        guard let token = form.token, let decision = form.decision else { return .now(refusal(.formRefused)) }
        guard let session, session.isGood(for: request.client.app, at: now) else {
            return .now(refusal(.loginRequired))
        }
        // The token is checked before the decision, because otherwise another site could cancel for the user.
        guard FormToken.isValid(token, for: query, in: session) else { return .now(refusal(.formRefused)) }
        let scopes = ScopeSet(
            useCase.settings.scopes.declarations(of: request.scopes)
                .filter { !$0.isOptional || form.tickedScopes.contains($0.token.rawValue) }.map(\.token))
        guard decision == .agree, !scopes.isEmpty else {
            return .now(redirect(.accessDenied, "The user did not agree."))
        }
        return .later {
            do {
                guard try await !useCase.endedSessions.contains(session, at: now) else {
                    return refusal(.loginRequired, session: .end)
                }
                return AuthorizeOutcome(.code(try await issue(scopes, session)))
            } catch let error as GrantRefusal where error.code == .tooManyGrants {
                return tooManyGrants()
            } catch let error as GrantRefusal where error.code == .accountDisabled {
                return disabled()
            } catch is GrantRefusal {
                // The credential ended while the page was open. A new sign-in can authorize it again.
                return refusal(.loginRequired, session: .end)
            } catch {
                return try unavailable(error)
            }
        }
    }

    private func withoutSession(_ situation: AuthorizeSituation) -> AuthorizeOutcome {
        switch situation.signInStep {
        case .refuse(let code, let explanation):
            redirect(code, explanation, session: situation.roundTrip == nil ? .keep : .end)
        case .signIn, .ask, .issue, .tellDisabled: signIn()
        }
    }

    private func withSession(_ session: BrowserSession) async throws -> AuthorizeOutcome {
        // The transaction that issues the code does not check for a sign-out. A sign-out ends no codes, and a
        // code that is written during a sign-out counts as written before it.
        guard try await !useCase.endedSessions.contains(session, at: now) else {
            var visit = self
            visit.session = nil
            return visit.withoutSession(visit.situation(status: nil, grant: nil))
        }
        let app = request.client.app
        let status = try await useCase.store.status(of: session.accountID, app: app)
        let grant = try await useCase.store.grant(of: session.accountID, for: request.client.id)
        let situation = situation(status: status, grant: grant)
        switch situation.step {
        case .signIn: return signIn()
        case .tellDisabled: return disabled()
        case .refuse(let code, let explanation):
            return redirect(code, explanation, session: sessionWithoutRoundTrip(situation))
        case .issue:
            do {
                let location = try await issue(request.scopes, session)
                return AuthorizeOutcome(.code(location), session: sessionWithoutRoundTrip(situation))
            } catch let error as GrantRefusal where error.code == .tooManyGrants {
                return tooManyGrants()
            } catch let error as GrantRefusal where error.code == .accountDisabled {
                return disabled()
            } catch is GrantRefusal {
                // The credential has ended since it was read.
                return withoutSession(situation)
            }
        case .ask(let account):
            return AuthorizeOutcome(
                .ask(prompt(for: account, session)), session: sessionWithoutRoundTrip(situation))
        }
    }

    private func situation(status: AccountStatus?, grant: GrantRecord?) -> AuthorizeSituation {
        AuthorizeSituation(
            request: request, query: query, session: session, hint: hint, status: status, grant: grant,
            now: now)
    }

    private func prompt(for account: Account, _ session: BrowserSession) -> ConsentPrompt {
        ConsentPrompt(
            request, query: query, appName: useCase.settings.appName(of: request.client.app),
            account: account,
            scopes: useCase.settings.scopes.declarations(of: request.scopes),
            formToken: FormToken.make(for: query, in: session),
            isExplained: useCase.settings.explainsRefusals)
    }

    /// Returns the session without the round trip to Apple, because a round trip counts only once. Otherwise
    /// the same link would require no new sign-in for the rest of the session's lifetime.
    private func sessionWithoutRoundTrip(_ situation: AuthorizeSituation) -> AuthorizeOutcome.SessionChange {
        guard situation.roundTrip != nil, var session else { return .keep }
        session.roundTrip = nil
        return useCase.cookie(of: session, at: now)
    }

    private func signIn() -> AuthorizeOutcome {
        guard WebSignIn.canCarry(query) else {
            return redirect(
                .invalidRequest,
                "The request has more than \(WebSignIn.longestQuery) bytes, which cannot travel to Apple and back; "
                    + "shorten it.")
        }
        do throws(UnknownClientID) {
            let request = try useCase.web.begin(
                authorizationFor: request.client.app, query: query, cookie: webCookie)
            return AuthorizeOutcome(.signIn(request))
        } catch {
            // The check at start-up prevents this configuration.
            return redirect(.serverError, "The app of this client has no sign-in for browsers.")
        }
    }

    private func redirect(
        _ code: OAuthError.Code, _ explanation: String, session: AuthorizeOutcome.SessionChange = .keep
    ) -> AuthorizeOutcome {
        AuthorizeOutcome(OAuthError(code, explanation), by: request.response, session: session)
    }

    private func tooManyGrants() -> AuthorizeOutcome {
        redirect(
            .temporarilyUnavailable,
            "The user has given this client too many new grants within an hour; try again in an hour.")
    }

    /// Ends the session, so that the user can sign in to another account.
    private func disabled() -> AuthorizeOutcome {
        AuthorizeOutcome(.disabled(DisabledAccountNotice(request)), session: .end)
    }

    private func refusal(
        _ code: FormRefusal.Code, session: AuthorizeOutcome.SessionChange = .keep
    ) -> AuthorizeOutcome {
        AuthorizeOutcome(
            .refusal(FormRefusal(code: code, query: query, languages: request.languages)), session: session)
    }

    /// After a storage error or an overload, redirects to the client with an error that invites a retry.
    /// Rethrows any other error, which is a bug in this service.
    private func unavailable(_ error: any Error) throws -> AuthorizeOutcome {
        guard error is StorageError || error is OverloadedError else { throw error }
        return redirect(.temporarilyUnavailable, "The service cannot answer now; try again in a minute.")
    }
}

extension AuthorizeVisit {
    /// Stores the code, and returns the redirect URL that contains it.
    ///
    /// - Throws: `GrantRefusal` if the credential is no longer valid; `StorageError`, `OverloadedError`.
    func issue(_ scopes: ScopeSet, _ session: BrowserSession) async throws -> String {
        let client = request.client
        let code = AuthorizationCodeText(random: SecureRandom.bytes(count: 32))
        var generator = SystemRandomNumberGenerator()
        let command = AuthorizeCommand(
            accountID: session.accountID, newGrantID: GrantID(UniqueID(at: now, using: &generator)),
            oauthClientID: client.id, clientID: client.app, codeDigest: code.digest,
            redirectURI: request.target.text, challenge: request.challenge?.stored, scope: scopes.text,
            nonce: request.nonce, authenticatedAt: session.authenticatedAt,
            // Only the client's own bound applies, because `max_age` was checked when the page was shown.
            authenticatedAfter: AuthenticationAge(longest: client.maxAuthenticationAge).earliest(at: now),
            moment: now,
            expiresAt: now.advanced(byMilliseconds: client.lifetimes.code * 1000))
        _ = try await useCase.commits.submit(command)
        return request.response.location(code: code.text)
    }
}
