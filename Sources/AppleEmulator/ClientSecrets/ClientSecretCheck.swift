import Encodings
import JOSE
import StrictJSON

/// Decides whether a client secret lets its bearer speak for a client ID (Apple, "Creating a client secret").
///
/// Every refusal is `invalid_client`, as at Apple, which says no more than that. The description says what is wrong: that
/// is the emulator's own kindness, and no program may depend on it.
struct ClientSecretCheck {
    /// The farthest that `exp` may lie ahead, six months, in seconds.
    static let longestLife: Int64 = 15_777_000

    let clientID: String
    /// The teams that may speak for the client ID: its owner, and during a transfer its former owner.
    let teamIDs: [String]
    let keys: ClientKeyRing
    /// Seconds since 1970.
    let now: Int64

    /// The team that signed. Throws `invalid_client`.
    func check(_ secret: ClientSecret) throws(OAuthRefusal) -> String {
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
        // Apple takes secrets without it.
        if let claim = claims["iat"] {
            guard let issuedAt = claim.integer else { throw refusal("iat is no integer") }
            guard issuedAt <= now else { throw refusal("iat is in the future") }
        }
        guard let expiresAt = claims["exp"]?.integer else { throw refusal("exp is no integer") }
        guard expiresAt > now else { throw refusal("it has expired") }
        guard expiresAt <= now + Self.longestLife else {
            throw refusal("exp is more than \(Self.longestLife) s ahead")
        }
        guard let key = keys.key(secret.keyID, of: teamID) else {
            throw refusal("the team has no key of this kid")
        }
        guard key.publicKey.isValidSignature(secret.signature, for: secret.signedBytes[...]) else {
            throw refusal("the signature is not by this key, or not in the raw form of 64 bytes")
        }
        return teamID
    }

    private func refusal(_ cause: String) -> OAuthRefusal {
        OAuthRefusal(.invalidClient, "client_secret: \(cause)")
    }
}
