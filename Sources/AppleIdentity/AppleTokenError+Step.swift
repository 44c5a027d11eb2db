extension AppleTokenError.Code {
    /// The step that throws this code; the first step when there are two.
    var step: VerificationStep {
        switch self {
        case .tokenTooLarge: .size
        case .algorithmNotAllowed: .algorithm
        case .headerNotAllowed: .header
        case .keyIDInvalid: .keyID
        case .unknownKey: .key
        case .signatureInvalid: .signature
        case .tokenMalformed: .form
        case .notAnIdentityToken, .notANotification: .kind
        case .claimMissing, .claimMalformed: .claims
        case .tokenNotYetValid: .notBefore
        case .issuerMismatch: .issuer
        case .audienceMismatch: .audience
        case .tokenExpired: .expiration
        case .issuedInFuture: .issuedAt
        case .subjectInvalid: .subject
        case .nonceMissing, .nonceMismatch: .nonce
        case .codeHashMissing, .codeHashMismatch: .codeHash
        case .accessTokenHashMissing, .accessTokenHashMismatch: .accessTokenHash
        case .eventsMalformed: .events
        }
    }
}
