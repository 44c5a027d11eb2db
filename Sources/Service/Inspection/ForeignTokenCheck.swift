/// A check of a token of Google's, or of a client secret. The raw values are the names in reports.
package enum ForeignTokenCheck: String, Sendable, CaseIterable {
    case form
    case key
    case signature
    case claims
    case issuer
    case audience
    case subject
    case issuedAt = "issued at"
    case expiration
    case lifetime

    /// The code of a token that does not pass.
    var code: String {
        switch self {
        case .form: "token_malformed"
        case .key: "unknown_key"
        case .signature: "signature_invalid"
        case .claims: "claim_missing"
        case .issuer: "issuer_mismatch"
        case .audience: "audience_mismatch"
        case .subject: "subject_mismatch"
        case .issuedAt: "issued_in_future"
        case .expiration: "token_expired"
        case .lifetime: "lifetime_too_long"
        }
    }
}

extension ForeignTokenInspection.Rules {
    /// The checks, in their order.
    var checks: [ForeignTokenCheck] { [.form, .key, .signature] + claimChecks }

    var claimChecks: [ForeignTokenCheck] {
        ForeignTokenCheck.allCases.filter { check in
            switch check {
            case .form, .key, .signature: false
            case .claims, .issuer, .audience, .issuedAt: true
            case .subject: subjects != nil
            case .expiration: claims.contains("exp")
            case .lifetime: longestLifetime != nil
            }
        }
    }

    /// An ID token or a security event token of Google's.
    ///
    /// - Parameter clientIDs: The client IDs of our project at Google.
    package static func google(
        _ kind: GoogleTokenKind, issuers: [String], clientIDs: [String]
    ) -> ForeignTokenInspection.Rules {
        let claims =
            switch kind {
            case .idToken: ["iss", "aud", "sub", "iat", "exp"]
            case .securityEvent: ["iss", "aud", "jti", "iat", "events"]
            }
        return ForeignTokenInspection.Rules(
            kind: kind.rawValue, algorithm: "RS256", claims: claims, issuers: issuers, audiences: clientIDs,
            subjects: nil, longestLifetime: nil
        ) { check in
            switch check {
            case .form: "Give the token as Google sent it, with nothing cut off."
            case .key: "Google changes its keys every few days: an old token's key is gone."
            case .signature: "Google has not made this token, or it was changed. Do not trust it."
            case .claims: "Google makes no such token. Do not trust it."
            case .issuer: "Only tokens of Google are accepted here."
            case .audience:
                "Add the client ID of your project at Google to google_client_ids of the client, if it is yours."
            case .subject: "Any account of Google's is accepted."
            case .issuedAt: "Compare the clock of this machine: siwa doctor does."
            case .expiration: "Google's ID tokens live an hour. Begin the linking again."
            case .lifetime: "Any lifetime is accepted."
            }
        }
    }

    /// A client secret of ours for Apple.
    ///
    /// - Parameters:
    ///   - teams: The IDs of our teams.
    ///   - clientIDs: Our client IDs.
    package static func clientSecret(
        teams: [String], clientIDs: [String], appleIssuer: String
    ) -> ForeignTokenInspection.Rules {
        ForeignTokenInspection.Rules(
            kind: "client-secret", algorithm: "ES256", claims: ["iss", "iat", "exp", "aud", "sub"],
            issuers: teams, audiences: [appleIssuer], subjects: clientIDs,
            // Six months, of which Apple's pages give the number.
            longestLifetime: 15_777_000
        ) { check in
            switch check {
            case .form:
                "A client secret is a JWT, signed with ES256, with the key ID of Apple's portal as kid."
            case .key: "Compare kid with the key in Apple's developer portal, and with SIWA_KEY_ID."
            case .signature:
                "Another private key has signed this secret. Compare the .p8 file with the key ID."
            case .claims: "Apple refuses a secret without these claims."
            case .issuer: "iss is the ID of the team that owns the key and the app."
            case .audience: "aud is Apple's issuer, byte for byte."
            case .subject: "sub is the bundle ID or Services ID that the secret authenticates."
            case .issuedAt: "Compare the clock of this machine with Apple's: siwa doctor does."
            case .expiration: "Make a new secret. This service does by itself, for five minutes each."
            case .lifetime: "Apple accepts a lifetime of six months at most."
            }
        }
    }
}
