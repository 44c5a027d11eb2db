import AppAttestation
import AppleAccounts

/// Reason why a proof does not hold.
struct ProofFault: Error {
    let cause: AppCheckCause

    init(_ cause: AppCheckCause) { self.cause = cause }
    init(_ error: AppAttestationError) { cause = AppCheckCause(error) }
}

extension AppCheckCause {
    /// Not a challenge of this service for this purpose and app.
    static let challengeInvalid = AppCheckCause(code: "challenge_invalid", canReAttest: false)
    /// The app asks for a new challenge, and tries again.
    static let challengeExpired = AppCheckCause(code: "challenge_expired", canReAttest: false)
    /// The client data is not the JSON object that is expected.
    static let clientDataMalformed = AppCheckCause(code: "client_data_malformed", canReAttest: false)
    /// The client data vouches for something else than this request.
    static let clientDataMismatch = AppCheckCause(code: "client_data_mismatch", canReAttest: false)
    /// The key was never registered for this app, or was deleted.
    static let keyUnknown = AppCheckCause(
        code: AccountRefusal.Code.attestationKeyUnknown.rawValue, canReAttest: true)

    /// Returns `nil` for a refusal that is not about a proof.
    init?(_ refusal: AccountRefusal.Code) {
        switch refusal {
        case .challengeUsed, .counterNotIncreased: self.init(code: refusal.rawValue, canReAttest: false)
        case .attestationKeyUnknown, .attestationKeyTaken:
            self.init(code: refusal.rawValue, canReAttest: true)
        case .credentialRevoked, .accountNotFound, .nonceExpired, .nonceUsed, .accountExists,
            .callerForbidden, .accountDisabled,
            .attestationKeysFull:
            return nil
        }
    }
}
