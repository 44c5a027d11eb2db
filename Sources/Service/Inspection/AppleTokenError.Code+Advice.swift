import AppAttestation
import AppleIdentity

extension AppleTokenError.Code {
    /// Advice for the operator when a token is refused with this code.
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

extension AppAttestationErrorCode {
    /// Advice for the operator when an App Attest object is refused with this code.
    var advice: String {
        switch self {
        case .objectTooLarge, .objectMalformed:
            "Post the object as the app got it from DCAppAttestService, in base64, with nothing cut off. An assertion "
                + "needs --kind assertion, an attestation --kind attestation."
        case .formatMismatch:
            "App Attest makes no such object. Find out where the app has it from: passkeys have other formats."
        case .certificateMalformed, .certificateKeyUnusable, .nonceMissing, .authenticatorDataMalformed,
            .environmentUnknown, .credentialIDMismatch, .credentialKeyMismatch, .counterNotZero,
            .extensionsMalformed:
            "Apple makes no such object. If the certificate chain is trusted, report it with the content below."
        case .chainUntrusted: "Apple has not attested this key. Do not trust the app."
        case .certificateExpired:
            "Verify an attestation when it arrives, once. --at verifies it as of an earlier time."
        case .certificateNotYetValid:
            "Compare the clock of this machine with Apple's: siwa doctor does. --at verifies it as of a later time."
        case .nonceMismatch:
            "Give the challenge of this attestation, byte for byte as the app hashed it: the text of a base64 value "
                + "and its decoded bytes have different hashes."
        case .keyIDMismatch: "Give the key ID that the app got from generateKey for this attestation."
        case .appIDMismatch:
            "If this app is yours, give its team ID and bundle ID. If not, do not trust the app: it was signed by "
                + "another team, or is another app."
        case .environmentMismatch:
            "Builds from Xcode attest in development, builds from TestFlight and the App Store in production. The app "
                + "must make a new key after it changes."
        case .keyPolicyMissing, .keyPolicyMismatch:
            "System Integrity Protection or Full Security is off on this Mac. If the app is not of macOS, give "
                + "--platform ios."
        case .signatureInvalid:
            "Give the client data byte for byte as the app hashed it, and the key that was attested with this key ID. "
                + "JSON that was parsed and written again has other bytes."
        case .counterNotIncreased:
            "This assertion, or a later one, was already used: make a new one. The app must send assertions one after "
                + "the other."
        }
    }
}

extension ReceiptErrorCode {
    /// Advice for the operator when a receipt is refused with this code. A refused receipt does not affect
    /// the attestation.
    var advice: String {
        switch self {
        case .tooLarge, .malformed, .contentMalformed:
            "Apple makes no such receipt. The risk metric of this key cannot be fetched."
        case .chainUntrusted, .signatureInvalid:
            "Apple has not signed this receipt; receipts from before 2020-10-22 fail too. Do not trust its fields."
        case .certificateExpired, .certificateNotYetValid, .notFresh, .expired:
            "Verify a receipt when it arrives. --at verifies it as of an earlier time."
        case .appIDMismatch, .keyMismatch, .clientHashMismatch, .environmentMismatch:
            "This receipt belongs to another attestation. Do not exchange it."
        case .kindMismatch:
            "An attestation has a receipt of kind ATTEST. Find out where the app has this receipt from."
        }
    }
}
