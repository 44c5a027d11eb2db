/// A change to an account, as a plain value that names the data it needs. Its effect is in `WorkingSet`.
///
/// A command names the app by its primary client ID and contains every time that it needs, so applying it
/// reads no clock and no configuration.
///
/// The enum is indirect because queues and batches copy commands, and copying so many members would be
/// slow.
public indirect enum AccountCommand: Sendable, Hashable {
    case signIn(SignInCommand)
    case notification(NotificationCommand)
    case finishExchange(ExchangeCommand)
    case rejectRefreshToken(RejectionCommand)
    case erase(EraseCommand)
    case transfer(TransferCommand)
    case registerKey(RegisterKeyCommand)
    case useProof(UseProofCommand)
    case disable(DisableCommand)
    case enable(EnableCommand)
    case signOut(SignOutCommand)

    /// True if the command may move a subject to another row, and so cannot share a working set.
    public var standsAlone: Bool {
        switch self {
        case .erase, .transfer: true
        case .signIn(let signIn): signIn.transferSubject != nil
        case .notification, .finishExchange, .rejectRefreshToken, .registerKey, .useProof, .disable, .enable,
            .signOut:
            false
        }
    }
}

/// The refusal of a command. A refused command changes nothing,
/// but does consume the App Attest challenge that came with it.
public struct AccountRefusal: Error, Sendable {
    /// The raw values appear in API responses.
    public enum Code: String, Sendable, CaseIterable {
        /// The token was issued before the latest revocation.
        case credentialRevoked = "credential_revoked"
        case accountNotFound = "account_not_found"
        /// The nonce has our format, but has expired or was not minted by this service.
        case nonceExpired = "nonce_expired"
        case nonceUsed = "nonce_used"
        /// The user already has another account, which a transfer must not replace.
        case accountExists = "account_exists"
        /// The account has a credential for an app that the caller may not see.
        case callerForbidden = "caller_forbidden"
        /// Another request has already consumed the App Attest challenge.
        case challengeUsed = "challenge_used"
        /// The App Attest key does not exist, or belongs to an app other than the app in the request.
        case attestationKeyUnknown = "attestation_key_unknown"
        /// Another app has attested the key.
        case attestationKeyTaken = "attestation_key_taken"
        /// The app has reached its maximum number of keys.
        case attestationKeysFull = "attestation_keys_full"
        /// The assertion's counter is not above the stored counter, so it is a replay or arrived late.
        case counterNotIncreased = "counter_not_increased"
        /// This service has disabled the account.
        case accountDisabled = "account_disabled"
    }

    public let code: Code

    public init(_ code: Code) { self.code = code }
}

extension AccountRefusal: Equatable {}

extension AccountRefusal: CustomStringConvertible {
    public var description: String { "refused: \(code.rawValue)" }
}

/// A command with its own outcome type.
///
/// A batch mixes commands of all kinds, so stores accept `AccountCommand` or
/// `GrantCommand`, and return `AccountOutcome` or `GrantOutcome`. This protocol
/// links the two for callers that submit a single command and need its outcome.
public protocol TypedCommand: Sendable {
    /// The type common to all commands in its batch.
    associatedtype Command: BatchCommand
    associatedtype Output: Sendable

    /// The command as part of a batch.
    var untyped: Command { get }

    /// Converts an outcome. Returns `nil` for the outcome of another kind of command.
    static func output(_ outcome: Command.Outcome) -> Output?
}

extension TypedCommand {
    /// Returns the outcome for this kind of command.
    ///
    /// - Throws: `StorageError` for the outcome of another kind
    ///   of command, which a conforming store never returns.
    @inlinable
    public static func requireOutput(_ outcome: Command.Outcome) throws(StorageError) -> Output {
        guard let output = output(outcome) else {
            throw StorageError(.unavailable, detail: "the store returned the outcome of another command")
        }
        return output
    }
}

extension SignInCommand: TypedCommand {
    public var untyped: AccountCommand { .signIn(self) }

    public static func output(_ outcome: AccountOutcome) -> SignInOutcome? {
        if case .signedIn(let output) = outcome { output } else { nil }
    }
}

extension NotificationCommand: TypedCommand {
    public var untyped: AccountCommand { .notification(self) }

    public static func output(_ outcome: AccountOutcome) -> NotificationReceipt? {
        if case .notification(let output) = outcome { output } else { nil }
    }
}

extension ExchangeCommand: TypedCommand {
    public var untyped: AccountCommand { .finishExchange(self) }

    public static func output(_ outcome: AccountOutcome) -> ExchangeReceipt? {
        if case .exchangeFinished(let output) = outcome { output } else { nil }
    }
}

extension RejectionCommand: TypedCommand {
    public var untyped: AccountCommand { .rejectRefreshToken(self) }

    public static func output(_ outcome: AccountOutcome) -> RejectionReceipt? {
        if case .refreshTokenRejected(let output) = outcome { output } else { nil }
    }
}

extension EraseCommand: TypedCommand {
    public var untyped: AccountCommand { .erase(self) }

    public static func output(_ outcome: AccountOutcome) -> ErasureRecord? {
        if case .erased(let output) = outcome { output } else { nil }
    }
}

extension TransferCommand: TypedCommand {
    public var untyped: AccountCommand { .transfer(self) }

    public static func output(_ outcome: AccountOutcome) -> TransferReceipt? {
        if case .transferred(let output) = outcome { output } else { nil }
    }
}

extension RegisterKeyCommand: TypedCommand {
    public var untyped: AccountCommand { .registerKey(self) }

    public static func output(_ outcome: AccountOutcome) -> RegisteredKey? {
        if case .keyRegistered(let output) = outcome { output } else { nil }
    }
}

extension UseProofCommand: TypedCommand {
    public var untyped: AccountCommand { .useProof(self) }

    public static func output(_ outcome: AccountOutcome) -> Void? {
        if case .proofUsed = outcome { () } else { nil }
    }
}

/// A command that changes an account and returns the account.
public protocol AccountChangeCommand: TypedCommand where Command == AccountCommand, Output == Account {}

extension AccountChangeCommand {
    public static func output(_ outcome: AccountOutcome) -> Account? {
        if case .changed(let output) = outcome { output } else { nil }
    }
}

extension DisableCommand: AccountChangeCommand {
    public var untyped: AccountCommand { .disable(self) }
}

extension EnableCommand: AccountChangeCommand {
    public var untyped: AccountCommand { .enable(self) }
}

extension SignOutCommand: AccountChangeCommand {
    public var untyped: AccountCommand { .signOut(self) }
}
