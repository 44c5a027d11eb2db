import AppleAccounts
import AuthorizationServer
import Commits
import Cryptography

/// The grant type `authorization_code` (RFC 6749 §4.1.3).
struct CodeRedemption: Sendable {
    let server: OAuthServer

    /// Redeems a code. The same transaction also checks the code's bindings, so that only one of several
    /// concurrent redemptions succeeds.
    ///
    /// - Throws: `OAuthError`; `StorageError`, `OverloadedError`, `JOSEError`.
    func tokens(for grant: TokenRequest.CodeGrant, of client: OAuthClient) throws -> Step<TokenResponse> {
        guard let code = AuthorizationCodeText(parsing: grant.code) else {
            throw OAuthError.invalidGrant(.codeUnknown)
        }
        guard let redirectURI = grant.redirectURI else { throw OAuthError.invalidGrant(.redirectURIDiffers) }
        let maker = TokenMaker(server: server)
        let redemption = maker.redemption(
            of: code.digest, redirectURI: redirectURI, codeVerifier: grant.codeVerifier, by: client)
        return maker.tokens(redemption.command, redemption.tokens) { refusal in
            let reason = refusal.code.reason
            // The code remains valid, and can be redeemed after the hour.
            return reason == .familyLimitReached
                ? OAuthError(limitedBy: refusal, at: server.now()) : .invalidGrant(reason)
        }
    }
}

extension TokenMaker {
    /// Returns the command that redeems a code or a device code, and the tokens for the response.
    fileprivate func redemption(
        of codeDigest: SHA256Digest, redirectURI: String, codeVerifier: String?, by client: OAuthClient
    ) -> (command: RedeemCommand, tokens: NewTokens) {
        let now = server.now()
        let (familyID, refreshToken) = Self.newFamily(at: now)
        let command = RedeemCommand(
            codeDigest: codeDigest, oauthClientID: client.id, redirectURI: redirectURI,
            codeVerifier: codeVerifier, clientScopes: client.scopes, newFamilyID: familyID,
            isNative: client.kind.sharesRefreshTokenLimit,
            refreshToken: refreshToken.newToken(forGoogle: client.googleLinking != nil),
            needsOfflineAccess: client.kind.needsOfflineAccess,
            familyExpiresAt: Self.lineEnd(of: client, usedAt: now, isNew: true),
            accessTokenExpiresAt: now.advanced(byMilliseconds: client.lifetimes.accessToken * 1000),
            limits: server.limits(of: client), moment: now)
        return (
            command, NewTokens(client: client, refreshToken: refreshToken, givesIDToken: true, moment: now)
        )
    }
}

extension OAuthError {
    /// Creates the error for a refusal that is due to a temporary limit.
    init(limitedBy refusal: GrantRefusal, at now: Moment) {
        let reason = refusal.code.reason
        self.init(
            .temporarilyUnavailable, reason.explanation, reason: reason,
            retryAfter: refusal.secondsToWait(at: now))
    }
}

extension OAuthServer {
    /// Returns the limits for a client. Google's token families do not count towards the account's limit, and
    /// the limit never ends them.
    func limits(of client: OAuthClient) -> FamilyLimits {
        FamilyLimits(
            perClient: client.refreshTokenLimit,
            perAccount: client.kind.sharesRefreshTokenLimit ? settings.nativeRefreshTokenLimit : nil)
    }
}

/// The grant type `urn:ietf:params:oauth:grant-type:device_code` (RFC 8628 §3.4), with which a device polls.
struct DevicePoll: Sendable {
    let server: OAuthServer

    /// The transaction decides whether the poll came too early and whether the user has agreed. Only one of
    /// several concurrent polls gets the tokens.
    ///
    /// - Throws: `OAuthError`; `StorageError`, `OverloadedError`, `JOSEError`.
    func tokens(for grant: TokenRequest.DeviceGrant, of client: OAuthClient) throws -> Step<TokenResponse> {
        guard let code = DeviceCodeText(parsing: grant.deviceCode) else {
            throw OAuthError.invalidGrant(.deviceCodeUnknown)
        }
        let maker = TokenMaker(server: server)
        let redemption = maker.redemption(
            of: code.digest, redirectURI: PollDeviceCommand.redirectURI, codeVerifier: nil, by: client)
        return maker.tokens(PollDeviceCommand(redemption.command), redemption.tokens) { refusal in
            OAuthError(pollRefusedFor: refusal, at: server.now())
        }
    }
}

extension OAuthError {
    /// Creates the error for a refused poll. RFC 8628 §3.5 defines four codes. All other reasons become
    /// `invalid_grant`, as for a code.
    fileprivate init(pollRefusedFor refusal: GrantRefusal, at now: Moment) {
        let reason = refusal.code.reason
        let code: Code? =
            switch reason {
            case .authorizationPending: .authorizationPending
            case .slowDown: .slowDown
            case .deviceCodeExpired: .expiredToken
            case .consentRefused: .accessDenied
            case .familyLimitReached: .temporarilyUnavailable
            case .requestMalformed, .clientNotAuthenticated, .attestationRequired, .attestationInvalid,
                .grantTypeUnknown, .grantTypeNotAllowed, .scopeNotAllowed, .resourceDiffers, .codeUnknown,
                .codeExpired, .codeRetried, .codeUsed, .redirectURIDiffers, .verifierDiffers, .tokenUnknown,
                .tokenExpired, .tokenRotated, .familyEnded, .refreshNotAllowed, .scopeExceeded,
                .deviceCodeUnknown, .otherClient, .scopeWithdrawn, .accountUnknown, .accountDisabled,
                .credentialRevoked, .limitReached, .assertionInvalid, .googleAccountDisabled,
                .accountNotMatched, .accountExists:
                nil
            }
        guard let code else {
            self = .invalidGrant(reason)
            return
        }
        self.init(
            code, reason.explanation, reason: reason, retryAfter: refusal.secondsToWait(at: now))
    }
}

/// The grant type `refresh_token` (RFC 6749 §6, RFC 9700 §4.14).
struct TokenRefresh: Sendable {
    let server: OAuthServer

    /// - Throws: `OAuthError`; `StorageError`, `OverloadedError`, `JOSEError`.
    func tokens(for grant: TokenRequest.RefreshGrant, of client: OAuthClient) throws -> Step<TokenResponse> {
        // The scope is checked before the transaction, so that the token becomes usable again if the scope
        // is restored.
        guard client.mayRefresh else { throw OAuthError.invalidGrant(.refreshNotAllowed) }
        guard let presented = RefreshTokenText(parsing: grant.refreshToken) else {
            throw OAuthError.invalidGrant(.tokenUnknown)
        }
        let now = server.now()
        var rotation: RefreshCommand.Rotation?
        if client.kind.rotatesRefreshTokens {
            rotation = RefreshCommand.Rotation(
                salt: SecureRandom.bytes(count: RefreshTokenText.saltSize),
                retryWindow: (client.refreshRetryWindow ?? server.settings.refreshRetryWindow) * 1000)
        }
        let command = RefreshCommand(
            oauthClientID: client.id, presented: presented, rotation: rotation,
            scope: grant.scope?.text, clientScopes: client.scopes,
            familyExpiresAt: TokenMaker.lineEnd(of: client, usedAt: now, isNew: false),
            longestLine: client.lifetimes.refreshTokenAbsolute.map { $0 * 1000 }, moment: now)
        return TokenMaker(server: server).tokens(
            command, NewTokens(client: client, refreshToken: nil, givesIDToken: false, moment: now)
        ) { refusal in
            refusal.code == .scopeExceeded
                ? OAuthError(
                    .invalidScope, TokenRefusalReason.scopeExceeded.explanation, reason: .scopeExceeded)
                : .invalidGrant(refusal.code.reason)
        }
    }
}
