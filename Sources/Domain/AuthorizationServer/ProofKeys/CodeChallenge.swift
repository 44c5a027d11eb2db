import Cryptography
import Encodings

/// The method by which a code challenge was made from the code verifier (RFC 7636 §4.2).
public enum CodeChallengeMethod: String, Sendable, Hashable, CaseIterable {
    case s256 = "S256"
    /// The challenge is the verifier.
    case plain
}

/// Binds a code to the client that requested it (RFC 7636): only the holder of the verifier can redeem the
/// code.
public struct CodeChallenge: Sendable, Hashable {
    public let method: CodeChallengeMethod
    public let text: String

    /// Returns `nil` for a text of another form: for `S256` 43 characters of base64url, for `plain` 43 to 128
    /// unreserved characters.
    public init?(_ text: String, method: CodeChallengeMethod) {
        switch method {
        case .s256:
            // A challenge that no SHA-256 encodes to is accepted (RFC 7636 §4.2 allows it), and no verifier
            // fits it.
            guard text.utf8.count == 43,
                text.utf8.allSatisfy({ $0.isLetter || $0.isDigit || "-_".utf8.contains($0) })
            else { return nil }
        case .plain:
            guard CodeVerifier(text) != nil else { return nil }
        }
        self.method = method
        self.text = text
    }

    /// Reads a stored challenge, which was checked before it was stored.
    public init(_ stored: CodeRecord.StoredChallenge) {
        method = stored.isPlain ? .plain : .s256
        text = stored.text
    }

    public var stored: CodeRecord.StoredChallenge {
        CodeRecord.StoredChallenge(text: text, isPlain: method == .plain)
    }

    /// Returns `true` if the challenge was made from this verifier. The duration does not depend on the
    /// position of a difference.
    ///
    /// The method is the authorization request's. A token request names no method, so it cannot choose a
    /// weaker one.
    public func isAnswered(by verifier: CodeVerifier) -> Bool {
        let response =
            switch method {
            case .s256: verifier.s256
            case .plain: verifier.text
            }
        return ConstantTime.areEqual(Array(response.utf8), Array(text.utf8))
    }

    /// Applies the rule of a token request (RFC 7636 §4.6, RFC 9700 §2.1.1): a verifier exactly when there
    /// was a challenge, and the right verifier.
    ///
    /// A verifier without a challenge is refused, because an attacker who removed the challenge from the
    /// authorization request would otherwise have removed the protection.
    public static func isFulfilled(_ challenge: CodeChallenge?, by verifier: String?) -> Bool {
        guard let challenge else { return verifier == nil }
        guard let verifier = verifier.flatMap({ CodeVerifier($0) }) else { return false }
        return challenge.isAnswered(by: verifier)
    }
}
