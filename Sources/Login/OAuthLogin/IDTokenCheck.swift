import Cryptography
import Encodings

/// The checks of an ID token that comes directly from the token endpoint (OpenID Connect Core §3.1.3.7).
struct IDTokenCheck {
    let issuer: String
    let clientID: String
    /// Nonce of the request; `nil` at a refresh, because the server need not repeat the nonce (§12.2).
    let nonce: String?
    let accessToken: String
    /// The `sub` of the sign-in, at a refresh (§12.2).
    var subject: String?

    /// Seconds by which the clocks may differ.
    static let leeway: Int64 = 60

    /// - Parameter now: Seconds since 1970. Throws `.idTokenRefused`.
    func check(_ token: IDToken, at now: Int64) throws(LoginError) {
        guard token.issuer.isByteEqual(to: issuer) else {
            throw refusal("iss must be \(issuer), but it is \(token.issuer.forTerminal())")
        }
        guard token.audience.contains(where: { $0.isByteEqual(to: clientID) }) else {
            throw refusal("aud must contain this client")
        }
        // Rules 4 and 5: a token for several audiences names the authorized party.
        if token.audience.count > 1 || token.authorizedParty != nil {
            guard token.authorizedParty?.isByteEqual(to: clientID) == true else {
                throw refusal("azp must be this client")
            }
        }
        guard token.expiresAt > now - Self.leeway else {
            throw refusal("it has expired; check the clock of this machine")
        }
        if let nonce, token.nonce?.isByteEqual(to: nonce) != true {
            throw refusal("nonce must be the one of this sign-in")
        }
        if let subject, !token.subject.isByteEqual(to: subject) {
            throw refusal("sub must be the user who signed in")
        }
        if let hash = token.accessTokenHash, usesSHA256(token) {
            let expected = Base64URL.encode(SHA256Digest.hash(accessToken).prefix(16))
            guard hash.isByteEqual(to: expected) else {
                throw refusal("at_hash must be that of the access token")
            }
        }
    }

    /// True if `at_hash` uses SHA-256: the hash function is the signature's (§3.1.3.6).
    private func usesSHA256(_ token: IDToken) -> Bool { token.algorithm.hasSuffix("256") }

    private func refusal(_ words: String) -> LoginError {
        LoginError(.idTokenRefused, "the ID token is refused: \(words)")
    }
}
