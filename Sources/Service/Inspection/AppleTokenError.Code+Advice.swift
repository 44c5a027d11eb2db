import AppleIdentity

extension AppleTokenError.Code {
    /// Advice for a token that was refused with this code.
    var advice: String {
        switch self {
        case .tokenTooLarge, .tokenMalformed:
            "Post the token as the app got it: three parts, two dots, nothing cut off and nothing around it."
        case .algorithmNotAllowed, .headerNotAllowed, .keyIDInvalid:
            "Apple makes no such token. Find out where the app has it from."
        case .unknownKey:
            "Apple changes its keys, and an old token's key may be gone: give the keys of its day with --jwks. A key of "
                + "the fake Apple is not among Apple's: give its address with --jwks-url."
        case .signatureInvalid: "The token was changed on its way, or is a forgery. Do not sign anybody in."
        case .notAnIdentityToken: "Verify it with --kind notification."
        case .notANotification: "Verify it with --kind identity-token."
        case .claimMissing, .claimMalformed, .subjectInvalid, .eventsMalformed:
            "Apple makes no such token. If its signature is valid, report it with the claims below."
        case .issuerMismatch: "Only tokens of Apple are accepted. Another provider's needs another service."
        case .audienceMismatch:
            "If this app is yours, add its ID to APPLE_CLIENT_IDS, or to --client-id here. If not, do not sign anybody "
                + "in: another app's token was sent."
        case .tokenExpired:
            "Post the token as soon as the app has it, and ask Apple again for a new one. --at verifies it as of an "
                + "earlier time."
        case .tokenNotYetValid, .issuedInFuture:
            "Compare the clock of this machine with Apple's: siwa doctor does. --at verifies it as of a later time."
        case .nonceMissing:
            "Let the app set the nonce in its request to Apple, or do not post a nonce."
        case .nonceMismatch:
            "Post the nonce of this sign-in, raw; the app gives Apple its SHA-256 hash, or the nonce itself."
        case .codeHashMissing, .codeHashMismatch: "Post the code that came together with this token."
        case .accessTokenHashMissing, .accessTokenHashMismatch:
            "Post the access token that came together with this token."
        }
    }
}
