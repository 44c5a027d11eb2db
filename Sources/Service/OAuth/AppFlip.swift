import AppAttestation
public import AppleAccounts
import AppleIdentity
public import AuthorizationServer
import Commits
import Cryptography
import KeySets
import SignIn

/// App Flip: the app's backend exchanges the user's decision in the app for the URL that returns to Google.
public struct AppFlip: Sendable {
    let server: OAuthServer

    public init(_ server: OAuthServer) {
        self.server = server
    }

    /// - Parameter caller: The apps that the caller's API key has access to.
    /// - Throws: `AppFlipRefusal` if there is no URL; `AccountRefusal` with the code `account_not_found` for
    ///   an ID that no account has ever had, and for an account that the caller may not see.
    public func response(_ call: AppFlipRequestBody, caller: AppScope) async throws -> AppFlipResponse {
        switch AppFlipCheck(server.settings).check(call, caller: caller) {
        case .refuse(let refusal): throw refusal
        case .response(let response): return response
        case .proceed(let request):
            do {
                return try await proceed(request, call, caller: caller)
            } catch let error as AccountRefusal where error.code == .accountNotFound {
                throw error
            } catch is StorageError {
                // Google continues in the browser after this response, and by then the database may be
                // available again.
                return request.link.response(.unavailable)
            } catch is OverloadedError {
                return request.link.response(.unavailable)
            }
        }
    }

    private func proceed(
        _ request: AppFlipRequest, _ call: AppFlipRequestBody, caller: AppScope
    ) async throws -> AppFlipResponse {
        switch try await user(request, call, caller: caller) {
        case .obstacle(let obstacle): return request.link.response(obstacle)
        case .known(let account, let authenticatedAt):
            return try await authorize(request, account, authenticatedAt: authenticatedAt)
        }
    }

    enum User {
        case known(AccountID, authenticatedAt: Moment)
        case obstacle(AppFlipObstacle)
    }

    private func user(
        _ request: AppFlipRequest, _ call: AppFlipRequestBody, caller: AppScope
    ) async throws -> User {
        switch request.identity {
        case .identityToken(let token, let nonce):
            return try await signedIn(
                IdentityTokenRequest(identityToken: token, nonce: nonce, evidence: AppEvidence(call)),
                request.link, at: server.now())
        case .account(let text, let authenticatedAt):
            guard AccountID(text) != nil else { throw AccountRefusal(.accountNotFound) }
            // The app's backend vouches for the user, and the proof is bound to this linking attempt.
            try await judge(AppEvidence(call), of: request.link, vouchingFor: call.state ?? "")
            return try await account(text, request.link, authenticatedAt: authenticatedAt, caller: caller)
        }
    }

    /// Returns the account that the backend names, or the reason it cannot be linked.
    func account(
        _ text: String, _ link: AppFlipLink, authenticatedAt: Moment?, caller: AppScope
    ) async throws -> User {
        let age = link.authenticationAge
        let now = server.now()
        guard let id = AccountID(text) else { throw AccountRefusal(.accountNotFound) }
        guard try await isKnown(id, caller: caller) else {
            return .obstacle(try await obstacle(ofMissing: id, caller: caller))
        }
        guard age.longest == nil || age.accepts(authenticatedAt, at: now) else {
            return .obstacle(.authenticationTooOld)
        }
        if let authenticatedAt, AuthenticationAge.isAhead(authenticatedAt, of: now) {
            return .obstacle(.authenticationAhead)
        }
        // If the backend sends no time, the latest known authorization counts as the sign-in. The time is
        // capped at `now`, because a future time, even within the leeway, would let the sign-in outlast a
        // revocation.
        let status = try await server.dependencies.store.status(of: id, app: link.client.app)
        let known = status?.credential.authorization?.moment
        return .known(id, authenticatedAt: min(authenticatedAt ?? known ?? now, now))
    }

    /// Signs the user in with the identity token, like any other sign-in: creates the account, consumes the
    /// nonce, and applies the state rule.
    private func signedIn(
        _ token: IdentityTokenRequest, _ link: AppFlipLink, at now: Moment
    ) async throws -> User {
        let useCases = server.dependencies.signIn
        let only = AppScope.only([link.client.app])
        do {
            let verified = try await useCases.verify(token, allowed: only).value
            let moment = Moment(seconds: verified.identity.authorizationMoment.secondsSince1970)
            try await judge(
                token.evidence, of: link, audience: verified.identity.clientID,
                vouchingFor: token.identityToken)
            // The age is checked first, because a sign-in without a link would be useless.
            guard link.authenticationAge.accepts(moment, at: now) else {
                return .obstacle(.authenticationTooOld)
            }
            let signIn = try useCases.signIn(verified, from: SignInRequest(token: token), allowed: only)
            let outcome = try await signIn.value
            return .known(outcome.account.id, authenticatedAt: moment)
        } catch is AppleTokenError {
            return .obstacle(.identityRefused)
        } catch is CallerForbidden {
            // The token is for an app other than the client's app.
            return .obstacle(.identityRefused)
        } catch is KeySetError {
            return .obstacle(.unavailable)
        } catch let refusal as AccountRefusal {
            return .obstacle(AppFlipObstacle(refusal.code))
        }
    }

    /// Judges the app that sends the request. Applies the policy for the bundle ID in the identity token, or
    /// the strictest policy of the client's app if there is no identity token. An Android app has neither App
    /// Attest nor a token for a bundle ID.
    ///
    /// - Parameter audience: The `aud` of the identity token; `nil` if the backend names the account instead.
    /// - Throws: `AppCheckRefusal` in enforced mode, if the proof is missing or invalid.
    private func judge(
        _ evidence: AppEvidence, of link: AppFlipLink, audience: String? = nil, vouchingFor text: String
    ) async throws {
        guard let checks = server.dependencies.signIn.appChecks else { return }
        var policy = audience.flatMap { checks.policies.ofApp($0) }
        if policy == nil, !link.isIntent {
            policy = server.dependencies.deployment.app(for: link.client.app)
                .flatMap { checks.policy(of: $0, for: evidence) }
        }
        _ = try await checks.check(evidence, by: policy, vouchingFor: SHA256Digest.hash(text)).value
    }

    private func isKnown(_ id: AccountID, caller: AppScope) async throws -> Bool {
        do {
            _ = try await server.dependencies.signIn.account(id: id.rawValue, allowed: caller)
            return true
        } catch let refusal as AccountRefusal where refusal.code == .accountNotFound {
            return false
        }
    }

    /// Returns the reason that no account has this ID.
    func obstacle(
        ofMissing id: AccountID, caller: AppScope
    ) async throws -> AppFlipObstacle {
        guard let erasure = try await server.dependencies.signIn.erasure(of: id, allowed: caller) else {
            throw AccountRefusal(.accountNotFound)
        }
        return erasure.finishedAt == nil ? .accountBeingErased : .accountErased
    }

    private func authorize(
        _ request: AppFlipRequest, _ account: AccountID, authenticatedAt: Moment
    ) async throws -> AppFlipResponse {
        let now = server.now()
        let link = request.link
        let client = link.client
        var generator = SystemRandomNumberGenerator()
        let code = AuthorizationCodeText(random: SecureRandom.bytes(count: 32))
        let command = AuthorizeCommand(
            accountID: account, newGrantID: GrantID(UniqueID(at: now, using: &generator)),
            oauthClientID: client.id, clientID: client.app, codeDigest: code.digest,
            redirectURI: link.response.target.text, challenge: link.challenge?.stored,
            scope: request.scopes.text, nonce: nil, authenticatedAt: authenticatedAt,
            authenticatedAfter: link.authenticationAge.earliest(at: now), moment: now,
            expiresAt: now.advanced(byMilliseconds: client.lifetimes.code * 1000))
        do {
            _ = try await server.dependencies.commits.submit(command)
        } catch let refusal as GrantRefusal {
            guard let obstacle = AppFlipObstacle(refusal.code) else { throw refusal }
            return link.response(obstacle)
        }
        return link.response(code: code.text)
    }
}

extension AppEvidence {
    fileprivate init(_ call: AppFlipRequestBody) {
        self.init(proof: call.attestation.map { PostedProof($0) }, appVersion: call.appVersion)
    }
}

extension AppFlipObstacle {
    /// Maps a refused sign-in.
    fileprivate init(_ code: AccountRefusal.Code) {
        switch code {
        case .credentialRevoked: self = .credentialRevoked
        case .accountDisabled: self = .accountDisabled
        case .accountNotFound, .nonceExpired, .nonceUsed, .accountExists, .callerForbidden, .challengeUsed,
            .attestationKeyUnknown, .attestationKeyTaken, .attestationKeysFull, .counterNotIncreased:
            self = .identityRefused
        }
    }

    /// Maps a refusal by the transaction that issues the code; `nil` for a code that this transaction does
    /// not produce.
    init?(_ code: GrantRefusal.Code) {
        switch code {
        case .accountNotFound, .accountErased: self = .accountErased
        case .accountDisabled: self = .accountDisabled
        case .credentialRevoked: self = .credentialRevoked
        case .appleAccountDeleted: self = .appleAccountDeleted
        case .authenticationTooOld: self = .authenticationTooOld
        case .tooManyGrants: self = .tooManyGrants
        case .codeNotFound, .codeExpired, .codeOfAnotherClient, .redirectURIMismatch, .codeVerifierMismatch,
            .codeRetried, .codeReused, .refreshTokenNotFound, .refreshTokenForged, .refreshTokenExpired,
            .refreshTokenOfAnotherClient, .refreshTokenReused,
            .scopeExceeded, .scopeWithdrawn, .grantNotFound, .googleAccountDisabled,
            .accountNotMatched, .deviceCodeNotFound, .deviceCodeExpired, .devicePending, .devicePolledEarly,
            .deviceDenied, .tooManyDevices, .tooManyFamilies, .userCodeTaken:
            return nil
        }
    }
}

extension AppFlip {
    /// Decides whether the app should ask its user, and returns the contents of the app's own sheet. Stores
    /// nothing, so the response to the user's decision checks everything again.
    ///
    /// - Throws: The same errors as `response`.
    public func prompt(_ call: AppFlipRequestBody, caller: AppScope) async throws -> AppFlipPrompt {
        switch AppFlipCheck(server.settings).link(call, caller: caller) {
        case .refuse(let refusal): throw refusal
        case .response(let response): return .refused(response, endsWithSignIn: false)
        case .ask(let link):
            // The request is checked before the sign-in, so that no user signs in for an impossible link.
            guard let id = call.accountID else { return .ask(LinkQuestion(link, server.settings)) }
            do {
                return try await prompt(link, id, authenticatedAt: call.authenticatedAt, caller: caller)
            } catch is StorageError {
                return .refused(link.response(.unavailable), endsWithSignIn: false)
            }
        }
    }

    private func prompt(
        _ link: AppFlipLink, _ id: String, authenticatedAt: Moment?, caller: AppScope
    ) async throws -> AppFlipPrompt {
        func refused(_ obstacle: AppFlipObstacle) -> AppFlipPrompt {
            .refused(link.response(obstacle), endsWithSignIn: obstacle.endsWithSignIn)
        }
        switch try await account(id, link, authenticatedAt: authenticatedAt, caller: caller) {
        case .obstacle(let obstacle): return refused(obstacle)
        case .known(let account, let authenticatedAt):
            guard let status = try await server.dependencies.store.status(of: account, app: link.client.app)
            else { return refused(try await obstacle(ofMissing: account, caller: caller)) }
            let now = server.now()
            guard !status.isDisabled(at: now) else { return refused(.accountDisabled) }
            do throws(GrantRefusal) {
                _ = try status.credential.authorization(
                    forAuthenticationAt: authenticatedAt,
                    notBefore: link.authenticationAge.earliest(at: now))
            } catch {
                guard let obstacle = AppFlipObstacle(error.code) else { throw error }
                return refused(obstacle)
            }
            guard status.admits(authenticatedAt: authenticatedAt) else { return refused(.credentialRevoked) }
            guard try await !isAtLimit(account, link.client.id, at: now) else {
                return refused(.tooManyGrants)
            }
            return .ask(LinkQuestion(link, server.settings, account: status.account))
        }
    }

    /// Returns `true` if the user has created too many new grants for the client within an hour. For an
    /// existing grant only the scope changes, so it does not count.
    private func isAtLimit(_ account: AccountID, _ client: OAuthClientID, at now: Moment) async throws -> Bool
    {
        let store = server.dependencies.store
        guard try await store.grant(of: account, for: client) == nil else { return false }
        return try await store.pace(of: account, for: client)?.isFull(at: now) ?? false
    }
}

/// The result of `prompt`: a question for the user, or a response without a question.
public enum AppFlipPrompt: Sendable {
    /// The app asks its user for consent.
    case ask(LinkQuestion)
    /// The app opens the response's URL without asking its user.
    ///
    /// - Parameter endsWithSignIn: True if the user can be linked after a new sign-in with Apple in the app.
    case refused(AppFlipResponse, endsWithSignIn: Bool)
}

/// The contents of the app's own sheet, which replaces the consent page.
public struct LinkQuestion: Sendable {
    public let client: OAuthClient
    /// The user-visible name of the linked account's app.
    public let appName: LocalizedText
    /// The scopes that the link requests, in the order of the request.
    public let scopes: [DeclaredScope]
    public let language: PageLanguage
    /// The user's account; `nil` if the user has not signed in yet.
    public let account: Account?

    init(_ link: AppFlipLink, _ settings: OAuthSettings, account: Account? = nil) {
        client = link.client
        appName = settings.appName(of: link.client.app)
        scopes = settings.scopes.declarations(of: link.scopes)
        language = link.language
        self.account = account
    }
}
