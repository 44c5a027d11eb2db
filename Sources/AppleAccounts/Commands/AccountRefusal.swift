/// A command that must not be carried out. It changed nothing.
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
