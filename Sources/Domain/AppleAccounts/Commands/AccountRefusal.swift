/// A command that must not be carried out. It changed nothing, but consumed the challenge of App Attest that
/// came with it.
public struct AccountRefusal: Error, Sendable {
    /// The raw values are the words on the wire.
    public enum Code: String, Sendable, CaseIterable {
        /// The token was given before the latest revocation.
        case credentialRevoked = "credential_revoked"
        case accountNotFound = "account_not_found"
        /// The nonce has our form, but has expired or was not minted here.
        case nonceExpired = "nonce_expired"
        case nonceUsed = "nonce_used"
        /// The user already has another account, which a transfer must not replace.
        case accountExists = "account_exists"
        /// The account has a credential for an app that the caller may not see.
        case callerForbidden = "caller_forbidden"
        /// The challenge of App Attest was consumed by another request.
        case challengeUsed = "challenge_used"
        /// There is no such key of App Attest, or it is of another app than the request.
        case attestationKeyUnknown = "attestation_key_unknown"
        /// Another app has attested the key.
        case attestationKeyTaken = "attestation_key_taken"
        /// The app has as many keys as it may have.
        case attestationKeysFull = "attestation_keys_full"
        /// The counter of the assertion is not above the stored counter: a replay, or a late assertion.
        case counterNotIncreased = "counter_not_increased"
        /// The account is disabled here.
        case accountDisabled = "account_disabled"
    }

    public let code: Code

    public init(_ code: Code) { self.code = code }
}

extension AccountRefusal: Equatable {}

extension AccountRefusal: CustomStringConvertible {
    public var description: String { "refused: \(code.rawValue)" }
}
