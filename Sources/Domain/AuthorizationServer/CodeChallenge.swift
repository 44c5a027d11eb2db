import Cryptography
import Encodings

/// The method that a client uses to derive a code challenge from its code verifier (RFC 7636 §4.2).
public enum CodeChallengeMethod: String, Sendable, Hashable, CaseIterable {
    case s256 = "S256"
    /// The challenge equals the verifier.
    case plain
}

/// A code challenge, which binds a code to the client that requested it (RFC 7636): only the holder of the
/// verifier can redeem the code.
public struct CodeChallenge: Sendable, Hashable {
    public let method: CodeChallengeMethod
    public let text: String

    /// Returns `nil` for a malformed challenge. A challenge must be 43 characters of base64url for `S256`, or
    /// 43 to 128 unreserved characters for `plain`.
    public init?(_ text: String, method: CodeChallengeMethod) {
        switch method {
        case .s256:
            // A challenge that is not a SHA-256 in base64url is accepted, as RFC 7636 §4.2 allows, but no
            // verifier matches it.
            guard text.utf8.count == 43,
                text.utf8.allSatisfy({ $0.isLetter || $0.isDigit || "-_".utf8.contains($0) })
            else { return nil }
        case .plain:
            guard CodeVerifier(text) != nil else { return nil }
        }
        self.method = method
        self.text = text
    }

    /// Creates a challenge from its stored form, which was checked before it was stored.
    public init(_ stored: CodeRecord.StoredChallenge) {
        method = stored.isPlain ? .plain : .s256
        text = stored.text
    }

    public var stored: CodeRecord.StoredChallenge {
        CodeRecord.StoredChallenge(text: text, isPlain: method == .plain)
    }

    /// Returns true if the challenge was derived from this verifier. The comparison runs in constant time.
    ///
    /// The method comes from the authorization request. A token request names no method, so it cannot choose
    /// a weaker one.
    public func isAnswered(by verifier: CodeVerifier) -> Bool {
        let response =
            switch method {
            case .s256: verifier.s256
            case .plain: verifier.text
            }
        return ConstantTime.areEqual(Array(response.utf8), Array(text.utf8))
    }

    /// Returns true if a token request obeys the rule (RFC 7636 §4.6, RFC 9700 §2.1.1): it contains the
    /// matching verifier if the authorization request had a challenge, and no verifier otherwise.
    ///
    /// A verifier without a challenge is refused, because an attacker could otherwise disable the protection
    /// by removing the challenge from the authorization request.
    public static func isFulfilled(_ challenge: CodeChallenge?, by verifier: String?) -> Bool {
        guard let challenge else { return verifier == nil }
        guard let verifier = verifier.flatMap({ CodeVerifier($0) }) else { return false }
        return challenge.isAnswered(by: verifier)
    }
}

/// The secret of one authorization request (RFC 7636 §4.1).
public struct CodeVerifier: Sendable, Confidential {
    let text: String

    /// Returns `nil` unless the text has 43 to 128 characters of `A-Z a-z 0-9 - . _ ~`.
    public init?(_ text: String) {
        guard (43...128).contains(text.utf8.count), text.utf8.allSatisfy(\.isUnreserved) else { return nil }
        self.text = text
    }

    /// The challenge for the `S256` method.
    public var s256: String { Base64URL.encode(SHA256Digest.hash(text)) }
}

/// Specifies whether a client's authorization requests must have a code challenge.
public enum ProofKeyRule: Sendable, Hashable {
    /// A challenge is optional, because Google's requests have none yet.
    case optional
    case required
    /// A confidential client that cannot create a challenge may send a `nonce` instead (RFC 9700 §2.1.1). The
    /// ID token for the code repeats the nonce, so the client can recognize a code from another session.
    case requiredWithoutNonce
}

/// Checks the challenge of an authorization request (RFC 7636 §4.4.1).
struct ProofKeyCheck {
    let rule: ProofKeyRule
    let allowsPlain: Bool
    /// True if this request's ID token will repeat a `nonce`.
    var hasNonceInIDToken = false

    /// Returns the challenge. Returns `nil` if the request has none and needs none.
    ///
    /// - Parameter name: The method in the request. It defaults to `plain` (RFC 7636 §4.3), which most
    ///   clients may not use.
    func challenge(_ text: String?, method name: String?) throws(OAuthError) -> CodeChallenge? {
        guard let text else {
            // A method without a challenge is refused, because an attacker may have removed only the
            // challenge.
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
