import JOSE

extension AppleTokenError.Code {
    /// The step that throws this code; the first of them when several steps do.
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

extension AppleTokenError {
    /// The token error for an error of `JOSE`.
    init(_ error: JOSEError) {
        let code: Code =
            switch error.code {
            case .jwsMalformed: .tokenMalformed
            case .algorithmNotAllowed: .algorithmNotAllowed
            case .headerNotAllowed: .headerNotAllowed
            case .keyIDInvalid: .keyIDInvalid
            case .keyUnusable, .keySetMalformed: .unknownKey
            case .signingFailed: .signatureInvalid
            }
        self.init(code, detail: error.detail)
    }
}
