extension GrantRefusal.Code {
    /// The reason that the refusal has at the token endpoint.
    public var reason: TokenRefusalReason {
        switch self {
        case .accountNotFound, .accountErased: .accountUnknown
        case .credentialRevoked, .appleAccountDeleted, .authenticationTooOld: .credentialRevoked
        case .accountDisabled: .accountDisabled
        case .codeNotFound: .codeUnknown
        case .codeExpired: .codeExpired
        case .codeOfAnotherClient, .refreshTokenOfAnotherClient: .otherClient
        case .redirectURIMismatch: .redirectURIDiffers
        case .codeVerifierMismatch: .verifierDiffers
        case .codeRetried: .codeRetried
        case .codeReused: .codeUsed
        case .refreshTokenNotFound, .grantNotFound: .familyEnded
        case .refreshTokenForged: .tokenUnknown
        case .refreshTokenExpired: .tokenExpired
        case .refreshTokenReused: .tokenRotated
        case .scopeExceeded: .scopeExceeded
        case .scopeWithdrawn: .scopeWithdrawn
        case .tooManyGrants, .tooManyDevices, .userCodeTaken: .limitReached
        case .tooManyFamilies: .familyLimitReached
        case .googleAccountDisabled: .googleAccountDisabled
        case .accountNotMatched: .accountNotMatched
        case .deviceCodeNotFound: .deviceCodeUnknown
        case .deviceCodeExpired: .deviceCodeExpired
        case .devicePending: .authorizationPending
        case .devicePolledEarly: .slowDown
        case .deviceDenied: .consentRefused
        }
    }
}
