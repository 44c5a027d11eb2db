import AppleAccounts
import AppleIDClient
public import AppleIdentity
import JOSE
public import KeySets

/// Checks that Apple's response to a code is about the user who posted the code (OpenID Connect Core
/// §3.1.3.7).
///
/// The code was bound to a verified identity token by its `c_hash`, and the response came from Apple over
/// TLS. So when Apple's keys are unavailable, or do not include the key that signed, the Apple token is kept
/// (rule 6 of that section). A refresh token cannot be requested again, and discarding it would protect no
/// user.
public struct TokenResponseCheck: Sendable {
    let verifier: IdentityTokenVerifier
    let keys: any VerificationKeys

    public init(verifier: IdentityTokenVerifier, keys: any VerificationKeys) {
        (self.verifier, self.keys) = (verifier, keys)
    }

    enum Finding: Equatable {
        case confirmed
        /// Accepted because of the code's hash and TLS.
        case keysMissing
        case mismatch
    }

    func check(
        _ response: AppleTokenResponse, subject: AppleSubject, clientID: ClientID, at now: Moment
    ) async -> Finding {
        guard let identityToken = response.identityToken, let token = try? UnverifiedToken(identityToken)
        else {
            return .mismatch
        }
        let key: RSAPublicKey
        if let cached = keys.cachedKey(for: token.keyID) {
            key = cached
        } else if let fetched = try? await keys.key(for: token.keyID, issuedAt: token.claimedIssuedAt) {
            key = fetched
        } else {
            return .keysMissing
        }
        let identity = try? verifier.verify(
            token, with: key,
            expecting: IdentityTokenExpectations(
                clientID: clientID.rawValue, accessToken: response.accessToken),
            at: NumericDate(clampingSecondsSince1970: now.milliseconds / 1000))
        return identity.flatMap { AppleSubject($0.subject) } == subject ? .confirmed : .mismatch
    }
}
