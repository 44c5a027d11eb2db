import Encodings
import JOSE
import StrictJSON

/// Verifies that a client secret authenticates a client ID (Apple, "Creating a client secret").
///
/// Every error is `invalid_client`, as at Apple. The emulator adds a description of the cause; Apple does
/// not. No program may depend on the description.
struct ClientSecretCheck {
    /// The largest distance of `exp` from now in seconds: six months.
    static let longestLife: Int64 = 15_777_000

    let clientID: String
    /// The teams that may authenticate as the client ID: its owner, and during a transfer its former owner.
    let teamIDs: [String]
    let keys: ClientKeyRing
    /// Seconds since 1970.
    let now: Int64

    /// Returns the team that signed the secret. Throws `invalid_client`.
    func check(_ secret: ClientSecret) throws(OAuthError) -> String {
        let claims = secret.claims
        guard let issuer = claims["iss"]?.string, let teamID = teamIDs.first(where: issuer.isByteEqual(to:))
        else {
            throw refusal("iss is not the team that the client_id belongs to")
        }
        guard claims["sub"]?.string?.isByteEqual(to: clientID) == true else {
            throw refusal("sub is not the client_id")
        }
        guard claims["aud"] == .string(IdentityTokenClaims.issuer) else {
            throw refusal("aud is not \(IdentityTokenClaims.issuer)")
        }
        // Apple accepts secrets without `iat`.
        if let claim = claims["iat"] {
            guard let issuedAt = claim.integer else { throw refusal("iat is not an integer") }
            guard issuedAt <= now else { throw refusal("iat is in the future") }
        }
        guard let expiresAt = claims["exp"]?.integer else { throw refusal("exp is not an integer") }
        guard expiresAt > now else { throw refusal("it has expired") }
        guard expiresAt <= now + Self.longestLife else {
            throw refusal("exp is more than \(Self.longestLife) s ahead")
        }
        guard let key = keys.key(secret.keyID, of: teamID) else {
            throw refusal("the team has no key with this kid")
        }
        guard key.publicKey.isValidSignature(secret.signature, for: secret.signedBytes[...]) else {
            throw refusal("the signature is not by this key, or not in the raw form of 64 bytes")
        }
        return teamID
    }

    private func refusal(_ cause: String) -> OAuthError {
        OAuthError(.invalidClient, "client_secret: \(cause)")
    }
}
