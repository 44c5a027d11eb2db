import AppleAccounts
import AuthorizationServer
import Commits

/// The grant `urn:ietf:params:oauth:grant-type:device_code` (RFC 8628 §3.4): a poll of a device.
struct DevicePoll: Sendable {
    let server: OAuthServer

    /// The transaction decides whether the poll came too early, whether the user has agreed, and which of many
    /// polls at once gets the tokens.
    ///
    /// - Throws: `OAuthError`; `StorageError`, `OverloadedError`, `JOSEError`.
    func tokens(for grant: TokenRequest.DeviceGrant, of client: OAuthClient) async throws -> TokenResponse {
        guard let code = DeviceCodeText(parsing: grant.deviceCode) else {
            throw OAuthError.invalidGrant(.deviceCodeUnknown)
        }
        let redemption = NewRedemption(
            of: code.digest, redirectURI: PollDeviceCommand.redirectURI, codeVerifier: nil, client, at: server
        )
        let issued: IssuedTokens
        do {
            issued = try await server.dependencies.commits.submit(PollDeviceCommand(redemption.command))
        } catch let refusal as GrantRefusal {
            throw OAuthError(pollRefusedFor: refusal, at: server.now())
        }
        return try await redemption.response(for: issued, client, at: server)
    }
}

extension OAuthError {
    /// RFC 8628 §3.5 names four reasons. All others are `invalid_grant`, as for a code.
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
