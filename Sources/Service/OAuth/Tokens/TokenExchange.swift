import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Commits
import KeySets
import SignIn

/// The grant type `urn:ietf:params:oauth:grant-type:token-exchange` with an identity token from Apple (RFC
/// 8693): a native sign-in without a browser.
///
/// Runs two transactions: the sign-in, then the grant with its tokens. If the second transaction fails, the
/// user is signed in and the nonce is consumed, but there is no grant. The app then asks the user to sign in
/// again, which repeats both transactions.
struct TokenExchange: Sendable {
    let server: OAuthServer

    /// - Throws: `OAuthError`; `KeySetError` if Apple's keys are unavailable; `StorageError`,
    ///   `OverloadedError`, `JOSEError`.
    func tokens(for grant: TokenRequest.ExchangeGrant, of client: OAuthClient) throws -> Step<TokenResponse> {
        try signIn(grant, to: client).then { user in
            let now = server.now()
            var generator = SystemRandomNumberGenerator()
            let (familyID, refreshToken) = TokenMaker.newFamily(at: now)
            let command = TokenExchangeCommand(
                accountID: user.id, newGrantID: GrantID(UniqueID(at: now, using: &generator)),
                oauthClientID: client.id, clientID: client.app, scope: (grant.scope ?? client.scopes).text,
                authenticatedAt: user.authenticatedAt,
                authenticatedAfter: AuthenticationAge(longest: client.maxAuthenticationAge).earliest(at: now),
                newFamilyID: familyID, refreshToken: refreshToken.newToken(forGoogle: false),
                familyExpiresAt: TokenMaker.lineEnd(of: client, usedAt: now, isNew: true),
                limits: server.limits(of: client), moment: now)
            let new = NewTokens(client: client, refreshToken: refreshToken, givesIDToken: true, moment: now)
            return TokenMaker(server: server).tokens(command, new) { refusal in
                OAuthError(exchangeRefusedFor: refusal, at: server.now())
            }.map { response in
                var response = response
                response.issuedTokenType = .accessToken
                response.dropped = user.dropped
                return response
            }
        }
    }

    private struct User {
        let id: AccountID
        let authenticatedAt: Moment
        /// Names of the values that the sign-in dropped.
        let dropped: [String]
    }

    /// Signs the user in like `POST /v1/sign-ins`: creates the account, consumes the nonce, applies the state
    /// rule, and exchanges Apple's code.
    private func signIn(
        _ grant: TokenRequest.ExchangeGrant, to client: OAuthClient
    ) throws -> Step<User> {
        // Only this service's nonces are consumed, so only they make an identity token valid just once.
        guard grant.nonce.utf8.starts(with: MintedNonce.prefix.utf8),
            let bundleID = client.nativeSignInBundleID
        else {
            throw OAuthError(.invalidRequest, "The nonce must be one of this service; ask /oauth/nonce.")
        }
        var profile: UserProfile?
        do throws(UserProfile.Fault) {
            profile = try grant.user.map { text throws(UserProfile.Fault) in try UserProfile(parsing: text) }
        } catch {
            throw OAuthError(
                .invalidRequest, "The parameter user must be the JSON text of the object that Apple sent.")
        }
        // The client is public, so any program can send any address in its name. The user's address is
        // therefore taken from Apple's token.
        profile?.email = nil
        let request = SignInRequest(
            token: IdentityTokenRequest(
                identityToken: grant.subjectToken, nonce: grant.nonce, clientID: bundleID.rawValue,
                authorizationCode: grant.authorizationCode),
            user: profile)
        let (useCases, only) = (server.dependencies.signIn, AppScope.only([client.app]))
        return try Step.mappingErrors(Self.oauthError) {
            try useCases.verify(request.token, allowed: only).then { verified in
                // If the token contained the nonce itself, anyone who reads the token could exchange it. Old
                // systems get a token without a nonce, which would be valid with any nonce.
                guard let claim = verified.identity.nonce, claim != grant.nonce else {
                    throw OAuthError(
                        .invalidRequest,
                        "The subject_token must have nonce_sha256 as its nonce; give it to Apple.")
                }
                let moment = Moment(seconds: verified.identity.authorizationMoment.secondsSince1970)
                // The age is checked first, because a sign-in without a grant would be useless.
                let now = server.now()
                guard AuthenticationAge(longest: client.maxAuthenticationAge).accepts(moment, at: now) else {
                    throw OAuthError(exchangeRefusedFor: GrantRefusal(.authenticationTooOld), at: now)
                }
                return try useCases.signIn(verified, from: request, allowed: only).map { outcome in
                    User(id: outcome.account.id, authenticatedAt: moment, dropped: outcome.dropped)
                }
            }
        }
    }

    @Sendable private static func oauthError(_ error: any Error) -> any Error {
        switch error {
        case let error as AppleTokenError: OAuthError(subjectTokenRefused: error.code.rawValue)
        case let error as KeySetError where error.code == .unknownKey:
            OAuthError(subjectTokenRefused: AppleTokenError.Code.unknownKey.rawValue)
        case is NonceNotMinted: OAuthError(subjectTokenRefused: "nonce_not_minted")
        case is CallerForbidden:
            OAuthError(subjectTokenRefused: AppleTokenError.Code.audienceMismatch.rawValue)
        case let refusal as AccountRefusal: OAuthError(subjectTokenRefused: refusal.code.rawValue)
        default: error
        }
    }
}

extension OAuthError {
    /// Creates the error for a refused subject token: `invalid_request` (RFC 8693 §2.2.2).
    ///
    /// - Parameter code: An error code of the API, which shows the cause to the developer.
    fileprivate init(subjectTokenRefused code: String, reason: TokenRefusalReason? = nil) {
        self.init(
            .invalidRequest, "The subject_token is refused: \(code). Sign the user in again.", reason: reason)
    }

    fileprivate init(exchangeRefusedFor refusal: GrantRefusal, at now: Moment) {
        let code = refusal.code
        switch code {
        case .tooManyGrants:
            self.init(
                .temporarilyUnavailable,
                "The user has given this client too many new grants within an hour; try again after "
                    + "Retry-After.",
                reason: code.reason, retryAfter: refusal.secondsToWait(at: now))
        case .tooManyFamilies: self.init(limitedBy: refusal, at: now)
        case .authenticationTooOld:
            self.init(subjectTokenRefused: "authentication_too_old", reason: code.reason)
        case .accountDisabled:
            self.init(
                subjectTokenRefused: AccountRefusal.Code.accountDisabled.rawValue, reason: code.reason)
        case .accountNotFound, .accountErased, .credentialRevoked, .appleAccountDeleted, .codeNotFound,
            .codeExpired, .codeOfAnotherClient, .redirectURIMismatch, .codeVerifierMismatch, .codeRetried,
            .codeReused, .refreshTokenNotFound, .refreshTokenForged, .refreshTokenExpired,
            .refreshTokenOfAnotherClient, .refreshTokenReused, .scopeExceeded, .scopeWithdrawn,
            .grantNotFound, .googleAccountDisabled, .accountNotMatched, .deviceCodeNotFound,
            .deviceCodeExpired,
            .devicePending, .devicePolledEarly, .deviceDenied, .tooManyDevices, .userCodeTaken:
            self.init(
                subjectTokenRefused: AccountRefusal.Code.credentialRevoked.rawValue, reason: code.reason)
        }
    }
}
