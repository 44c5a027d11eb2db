/// The steps of verification, in the order in which they happen.
///
/// The first step that fails decides the error: all earlier steps have passed, and later steps have not been
/// tried.
public enum VerificationStep: String, Sendable, CaseIterable {
    case size
    case form
    case algorithm
    case header
    case keyID = "key ID"
    case key
    case signature
    case payload
    case kind
    case claims
    case notBefore = "not before"
    case issuer
    case audience
    case expiration
    case issuedAt = "issued at"
    case subject
    case nonce
    case codeHash = "code hash"
    case accessTokenHash = "access token hash"
    case events

    /// The steps for a token of this kind.
    public static func steps(for kind: TokenKind) -> [VerificationStep] {
        allCases.filter { step in
            switch step {
            case .subject, .nonce, .codeHash, .accessTokenHash: kind == .identityToken
            case .events: kind == .notification
            case .size, .form, .algorithm, .header, .keyID, .key, .signature, .payload, .kind, .claims,
                .notBefore,
                .issuer, .audience, .expiration, .issuedAt:
                true
            }
        }
    }
}

/// The two kinds of token that Apple signs with the same keys. Neither is accepted in place of the other.
public enum TokenKind: String, Sendable, CaseIterable {
    case identityToken = "identity-token"
    case notification
}
