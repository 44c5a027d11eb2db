public import AppleAccounts
public import AppleIdentity
import JOSE
import KeySets

extension SignInUseCases {
    /// Verifies Apple's identity token. Stores nothing.
    ///
    /// Waits only when the token's key has to be fetched.
    /// - Throws: `AppleTokenError`, `KeySetError`, `CallerForbidden`.
    public func verify(
        _ request: IdentityTokenRequest, allowed: AppScope
    ) throws -> Step<VerifiedSignIn> {
        let moment = now()
        // Everything that needs no key is checked before the key is looked up, so that garbage causes no
        // fetch.
        let token = try UnverifiedToken(request.identityToken)
        if let key = keys.cachedKey(for: token.keyID) {
            return .now(try verify(token, with: key, against: request, at: moment, allowed: allowed))
        }
        return .later {
            let key = try await keys.key(for: token.keyID, issuedAt: token.claimedIssuedAt)
            return try verify(token, with: key, against: request, at: moment, allowed: allowed)
        }
    }

    func verify(
        _ token: UnverifiedToken, with key: RSAPublicKey, against request: IdentityTokenRequest,
        at moment: Moment, allowed: AppScope
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
        note(dropped: identity.dropped.names)
        return VerifiedSignIn(identity: identity, app: app)
    }
}

/// The claims of a verified token, and the app to which the token was issued.
public struct VerifiedSignIn: Sendable {
    public let identity: VerifiedIdentity
    public let app: App
}
