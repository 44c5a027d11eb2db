import AppleAccounts
import AuthorizationServer
import Commits
import Encodings
import KeySets
import SignIn

/// The grant type `urn:ietf:params:oauth:grant-type:jwt-bearer` with a Google ID token: streamlined linking.
///
/// Finds the account that is linked to the Google account or was created from it. Otherwise finds an account
/// by e-mail address, if both sides have verified the address and Google vouches for it.
struct AssertionGrant: Sendable {
    let server: OAuthServer

    /// - Throws: `OAuthError`; `KeySetError` if Google's keys are unavailable; `StorageError`,
    ///   `OverloadedError`, `JOSEError`.
    func response(
        _ grant: TokenRequest.AssertionGrant, of client: OAuthClient
    ) async throws -> TokenEndpoint.Response {
        let now = server.now()
        let identity: GoogleIdentity
        do {
            identity = try await GoogleIdentity(
                assertion: grant.assertion, settings: server.dependencies.google,
                clientIDs: client.googleLinking?.googleClientIDs ?? [], keys: server.dependencies.googleKeys,
                at: now.milliseconds / 1000)
        } catch is GoogleToken.Fault {
            throw OAuthError.invalidGrant(.assertionInvalid)
        }
        let scope = client.completed(grant.scope ?? client.scopes)
        // This check also applies to the `check` intent, because a disabled Google account cannot be linked,
        // with or without an account in this service.
        guard try await !server.dependencies.store.isDisabled(googleSubject: identity.subject) else {
            return Self.refusal(identity, .googleAccountDisabled)
        }
        let account = try await account(of: identity, client: client)
        switch (grant.intent, account) {
        case (.check, .found): return .linking(.accountFound)
        case (.check, .absent): return .linking(.accountNotFound)
        case (.get, .found(let account)):
            return try await tokens(for: account, identity, scope: scope, client: client, at: now)
        case (.create, .absent) where server.settings.allowsAccountsWithoutApple:
            guard let account = try await newAccount(for: identity, client: client, at: now) else {
                return Self.refusal(identity, .accountUnknown)
            }
            return try await tokens(
                for: Found(id: account, match: .origin), identity, scope: scope, client: client, at: now)
        case (.create, .found(let account)):
            await learn(identity, of: account, client: client)
            return Self.refusal(identity, .accountExists)
        case (.get, .absent(let reason)), (.create, .absent(let reason)):
            return Self.refusal(identity, reason)
        }
    }

    /// Finds the account. Does not find an account with a revoked credential, because the user must sign in
    /// with the browser to authorize it again. Finds a disabled account, which gets no tokens, because a new
    /// account would circumvent the disabling.
    private func account(of identity: GoogleIdentity, client: OAuthClient) async throws -> Search {
        guard let app = server.dependencies.deployment.app(for: client.app),
            let found = try await match(of: identity, client: client, team: app.team),
            let status = try await server.dependencies.store.status(of: found.id, app: client.app)
        else { return .absent(.accountNotMatched) }
        let isFound = status.isAuthorized || status.isDisabled(at: server.now())
        return isFound ? .found(found) : .absent(.credentialRevoked)
    }

    private enum Search {
        case found(Found)
        case absent(TokenRefusalReason)
    }

    private struct Found {
        let id: AccountID
        let match: GoogleAccountMatch
    }

    private func match(of identity: GoogleIdentity, client: OAuthClient, team: TeamID) async throws -> Found?
    {
        let store = server.dependencies.store
        if let id = try await store.account(linkedWith: identity.subject, for: client.id) {
            return Found(id: id, match: .link)
        }
        // The Google account takes precedence over the address, because it created the account.
        if let subject = AppleSubject(madeBy: identity.subject),
            let account = try await account(subject, app: client.app)
        {
            return Found(id: account.id, match: .origin)
        }
        guard let email = identity.authoritativeEmail,
            let id = try await store.account(withVerifiedEmail: email, app: client.app, team: team)
        else { return nil }
        return Found(id: id, match: .email(email))
    }

    private func account(_ subject: AppleSubject, app: ClientID) async throws -> Account? {
        do {
            return try await server.dependencies.signIn.account(
                subject: subject.rawValue, clientID: app.rawValue, allowed: .all)
        } catch is AccountRefusal {
            return nil
        }
    }

    /// Stores an existing link's Google account. A refusal or a failure does not affect the response.
    private func learn(_ identity: GoogleIdentity, of account: Found, client: OAuthClient) async {
        _ = try? await server.dependencies.commits.submit(
            LearnGoogleSubjectCommand(
                accountID: account.id, oauthClientID: client.id, googleSubject: identity.subject,
                match: account.match, assertedAt: Moment(milliseconds: identity.issuedAt * 1000)))
    }

    private func tokens(
        for account: Found, _ identity: GoogleIdentity, scope: ScopeSet, client: OAuthClient,
        at now: Moment
    ) async throws -> TokenEndpoint.Response {
        var generator = SystemRandomNumberGenerator()
        let (familyID, refreshToken) = TokenMaker.newFamily(at: now)
        let command = AssertionCommand(
            accountID: account.id, newGrantID: GrantID(UniqueID(at: now, using: &generator)),
            oauthClientID: client.id, clientID: client.app, googleSubject: identity.subject,
            match: account.match, assertedAt: Moment(milliseconds: identity.issuedAt * 1000),
            scope: scope.text, newFamilyID: familyID, refreshToken: refreshToken.newToken(forGoogle: true),
            limits: server.limits(of: client), moment: now)
        let issued: IssuedTokens
        do {
            issued = try await server.dependencies.commits.submit(command)
        } catch let refusal as GrantRefusal {
            // Since the lookup, the account was revoked, erased or disabled, or it no longer matches, or the
            // assertion is older than Google's last event about the Google account.
            return Self.refusal(identity, refusal.code.reason)
        }
        let new = NewTokens(client: client, refreshToken: refreshToken, givesIDToken: false, moment: now)
        return .tokens(try await TokenMaker(server: server).response(for: issued, new).value)
    }

    /// Makes an account without an Apple identity. The form of its `sub` is never a valid form of Apple's
    /// `sub`.
    ///
    /// - Returns: `nil` if the user was erased, or has ended this account.
    private func newAccount(
        for identity: GoogleIdentity, client: OAuthClient, at now: Moment
    ) async throws -> AccountID? {
        guard let app = server.dependencies.deployment.app(for: client.app),
            let subject = AppleSubject(madeBy: identity.subject)
        else { return nil }
        let command = SignInCommand(
            key: SubjectKey(team: app.team, subject: subject), clientID: app.primaryClientID,
            authorizedAt: now,
            // The address counts as verified only if Google vouches for it. Any other address may have a new
            // owner, who would then get access to this account.
            email: identity.email.flatMap {
                EmailAddress(
                    address: $0, isVerified: identity.authoritativeEmail != nil, isPrivate: false)
            },
            profile: Profile(firstName: identity.givenName, lastName: identity.familyName),
            receivedAt: now)
        do {
            return try await server.dependencies.signIn.commits.submit(command).account.id
        } catch is AccountRefusal {
            return nil
        }
    }

    private static func refusal(
        _ identity: GoogleIdentity, _ reason: TokenRefusalReason
    ) -> TokenEndpoint.Response {
        .linking(.linkingError(loginHint: identity.email, reason: reason))
    }
}
