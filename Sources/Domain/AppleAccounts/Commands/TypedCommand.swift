/// A command whose outcome has a type of its own.
///
/// A batch mixes commands of all kinds, so a store takes `AccountCommand` or `GrantCommand`, and returns
/// `AccountOutcome` or `GrantOutcome`. This protocol connects them for callers that submit one command and want
/// the outcome of that command.
public protocol TypedCommand: Sendable {
    /// The type of all commands of its batch.
    associatedtype Command: BatchCommand
    associatedtype Output: Sendable

    /// The command as part of a batch.
    var untyped: Command { get }

    /// Returns `nil` for an outcome of another kind of command.
    static func output(_ outcome: Command.Outcome) -> Output?
}

extension TypedCommand {
    /// Returns the outcome of this kind of command.
    ///
    /// - Throws: `StorageError` for an outcome of another kind of command, which a conforming store never
    ///   returns.
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

/// A command that changes an account and yields the account.
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
