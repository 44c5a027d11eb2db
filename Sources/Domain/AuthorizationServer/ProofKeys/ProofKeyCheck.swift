/// The rule of RFC 7636 §4.4.1 about the challenge of an authorization request.
struct ProofKeyCheck {
    let rule: ProofKeyRule
    let allowsPlain: Bool
    /// True if the ID token of this request will repeat a `nonce`.
    var hasNonceInIDToken = false

    /// Returns the challenge, or `nil` when there is none and none is required.
    ///
    /// - Parameter method: Absent is `plain` (RFC 7636 §4.3), which most clients may not use.
    func challenge(_ text: String?, method name: String?) throws(OAuthError) -> CodeChallenge? {
        guard let text else {
            // Otherwise an attacker could remove the challenge and leave only the method.
            guard name == nil else {
                throw OAuthError(
                    .invalidRequest,
                    "The request has code_challenge_method without code_challenge; send both.")
            }
            switch rule {
            case .optional: return nil
            case .requiredWithoutNonce where hasNonceInIDToken: return nil
            case .requiredWithoutNonce:
                throw OAuthError(
                    .invalidRequest,
                    "The client must send a code challenge (RFC 7636), or a nonce with the scope openid; add one."
                )
            case .required:
                throw OAuthError(
                    .invalidRequest, "The client must send a code challenge (RFC 7636); add code_challenge.")
            }
        }
        guard let method = CodeChallengeMethod(rawValue: name ?? "plain") else {
            throw OAuthError(
                .invalidRequest, "The transform algorithm is not supported; use code_challenge_method S256.")
        }
        guard method == .s256 || allowsPlain else {
            throw OAuthError(
                .invalidRequest,
                "The transform algorithm plain is not allowed; use code_challenge_method S256.")
        }
        guard let challenge = CodeChallenge(text, method: method) else {
            throw OAuthError(
                .invalidRequest,
                "The code challenge must be 43 characters of base64url for S256 (RFC 7636 section 4.2).")
        }
        return challenge
    }
}
