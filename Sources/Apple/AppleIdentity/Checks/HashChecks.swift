import Cryptography
import Encodings

/// Binds an authorization code to the accompanying token (OpenID Connect Core §3.3.2.11, `c_hash`).
struct CodeHashCheck: ClaimCheck {
    let authorizationCode: String

    func check(_ claims: IdentityTokenClaims, at now: NumericDate) throws(AppleTokenError) {
        guard let claim = claims.codeHash else { throw AppleTokenError(.codeHashMissing) }
        guard HalfDigest.matches(claim, of: authorizationCode) else {
            throw AppleTokenError(.codeHashMismatch)
        }
    }
}

/// Binds an access token to the accompanying identity token (OpenID Connect Core §3.1.3.6, `at_hash`).
struct AccessTokenHashCheck: ClaimCheck {
    let accessToken: String

    func check(_ claims: IdentityTokenClaims, at now: NumericDate) throws(AppleTokenError) {
        guard let claim = claims.accessTokenHash else { throw AppleTokenError(.accessTokenHashMissing) }
        guard HalfDigest.matches(claim, of: accessToken) else {
            throw AppleTokenError(.accessTokenHashMismatch)
        }
    }
}

/// The hash in `c_hash` and `at_hash`: base64url of the left 16 bytes of the SHA-256 digest (OpenID Connect
/// Core §3.1.3.6, for RS256).
package enum HalfDigest {
    package static func claim(for value: String) -> String {
        Base64URL.encode(SHA256Digest.hash(value).prefix(16))
    }

    static func matches(_ claim: String, of value: String) -> Bool {
        ConstantTime.areEqual(Array(claim.utf8), Array(self.claim(for: value).utf8))
    }
}
