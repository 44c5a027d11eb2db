public import AppleAccounts
import AppleIdentity
import JOSE
import KeySets

extension SignInUseCases {
    /// Says whom Apple's token is about. Stores nothing.
    ///
    /// - Throws: `AppleTokenError`, `KeySetError`, `CallerForbidden`.
    public func verify(_ request: IdentityTokenRequest, allowed: AppScope) async throws -> VerifiedSignIn {
        try await verify(request, at: now(), allowed: allowed)
    }

    /// The same without waiting: `nil` when the key is not at hand, and only `verify` can say more.
    ///
    /// - Throws: `AppleTokenError`, `CallerForbidden`.
    public func verifyNow(_ request: IdentityTokenRequest, allowed: AppScope) throws -> VerifiedSignIn? {
        try verifyNow(request, at: now(), allowed: allowed)
    }

    func verifyNow(
        _ request: IdentityTokenRequest, at moment: Moment, allowed: AppScope
    ) throws -> VerifiedSignIn? {
        let token = try UnverifiedToken(request.identityToken)
        guard let key = keys.cachedKey(for: token.keyID) else { return nil }
        return try verify(token, with: key, against: request, at: moment, allowed: allowed)
    }

    /// All that can be refused without a key is refused before one is looked up, so that garbage causes no
    /// fetch.
    func verify(
        _ request: IdentityTokenRequest, at moment: Moment, allowed: AppScope
    ) async throws -> VerifiedSignIn {
        let token = try UnverifiedToken(request.identityToken)
        let key = try await key(for: token)
        return try verify(token, with: key, against: request, at: moment, allowed: allowed)
    }

    private func verify(
        _ token: UnverifiedToken, with key: RSAPublicKey, against request: IdentityTokenRequest,
        at moment: Moment,
        allowed: AppScope
    ) throws -> VerifiedSignIn {
        let identity = try identityVerifier.verify(
            token, with: key,
            expecting: IdentityTokenExpectations(
                nonce: request.nonce, clientID: request.clientID,
                authorizationCode: request.authorizationCode, accessToken: request.accessToken),
            at: NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000))
        guard let clientID = ClientID(identity.clientID), let app = deployment.app(for: clientID) else {
            throw AppleTokenError(.audienceMismatch)
        }
        guard allowed.allows(app) else { throw CallerForbidden() }
        return VerifiedSignIn(identity: identity, app: app)
    }

    /// From the set at hand if it can be, which takes no suspension; else a fetch may help.
    func key(for token: UnverifiedToken) async throws -> RSAPublicKey {
        if let key = keys.cachedKey(for: token.keyID) { return key }
        return try await keys.key(for: token.keyID)
    }
}
