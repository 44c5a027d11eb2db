/// A command whose outcome has a type of its own.
///
/// A batch mixes commands of all kinds, so a store takes `AccountCommand` and returns `AccountOutcome`. This
/// protocol connects the two for callers that submit one command and want the outcome of that command.
public protocol TypedCommand: Sendable {
    associatedtype Output: Sendable

    /// The command as part of a batch.
    var accountCommand: AccountCommand { get }

    /// Returns `nil` for an outcome of another kind of command. A conforming store never returns such an
    /// outcome.
    static func output(_ outcome: AccountOutcome) -> Output?
}

extension SignInCommand: TypedCommand {
    public var accountCommand: AccountCommand { .signIn(self) }

    public static func output(_ outcome: AccountOutcome) -> SignInOutcome? {
        if case .signedIn(let output) = outcome { output } else { nil }
    }
}

extension NotificationCommand: TypedCommand {
    public var accountCommand: AccountCommand { .notification(self) }

    public static func output(_ outcome: AccountOutcome) -> NotificationReceipt? {
        if case .notification(let output) = outcome { output } else { nil }
    }
}

extension ExchangeCommand: TypedCommand {
    public var accountCommand: AccountCommand { .finishExchange(self) }

    public static func output(_ outcome: AccountOutcome) -> ExchangeReceipt? {
        if case .exchangeFinished(let output) = outcome { output } else { nil }
    }
}

extension RejectionCommand: TypedCommand {
    public var accountCommand: AccountCommand { .rejectRefreshToken(self) }

    public static func output(_ outcome: AccountOutcome) -> RejectionReceipt? {
        if case .refreshTokenRejected(let output) = outcome { output } else { nil }
    }
}

extension EraseCommand: TypedCommand {
    public var accountCommand: AccountCommand { .erase(self) }

    public static func output(_ outcome: AccountOutcome) -> ErasureRecord? {
        if case .erased(let output) = outcome { output } else { nil }
    }
}

extension TransferCommand: TypedCommand {
    public var accountCommand: AccountCommand { .transfer(self) }

    public static func output(_ outcome: AccountOutcome) -> TransferReceipt? {
        if case .transferred(let output) = outcome { output } else { nil }
    }
}
