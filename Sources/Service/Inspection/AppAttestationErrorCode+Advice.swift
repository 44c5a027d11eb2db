import AppAttestation

extension AppAttestationErrorCode {
    /// Advice for an object that was refused with this code.
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
