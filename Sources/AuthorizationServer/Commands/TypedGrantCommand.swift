/// A grant command with an outcome type of its own, as `TypedCommand` is for accounts.
public protocol TypedGrantCommand: Sendable {
    associatedtype Output: Sendable

    /// The command as part of a batch.
    var grantCommand: GrantCommand { get }

    /// Returns `nil` when the outcome belongs to another kind of command. A conforming store never returns
    /// such an outcome.
    static func output(_ outcome: GrantOutcome) -> Output?
}

extension AuthorizeCommand: TypedGrantCommand {
    public var grantCommand: GrantCommand { .authorize(self) }

    public static func output(_ outcome: GrantOutcome) -> GrantRecord? {
        if case .authorized(let output) = outcome { output } else { nil }
    }
}

extension EndGrantCommand: TypedGrantCommand {
    public var grantCommand: GrantCommand { .end(self) }

    public static func output(_ outcome: GrantOutcome) -> GrantRecord? {
        if case .ended(let output) = outcome { output } else { nil }
    }
}

extension RevokeCommand: TypedGrantCommand {
    public var grantCommand: GrantCommand { .revoke(self) }

    public static func output(_ outcome: GrantOutcome) -> Void? {
        if case .revoked = outcome { () } else { nil }
    }
}

extension GoogleEventCommand: TypedGrantCommand {
    public var grantCommand: GrantCommand { .googleEvent(self) }

    public static func output(_ outcome: GrantOutcome) -> GoogleEventReceipt? {
        if case .googleEvent(let output) = outcome { output } else { nil }
    }
}

/// A command that yields tokens.
public protocol TokenCommand: TypedGrantCommand where Output == IssuedTokens {}

extension TokenCommand {
    public static func output(_ outcome: GrantOutcome) -> IssuedTokens? {
        if case .issued(let output) = outcome { output } else { nil }
    }
}

extension RedeemCommand: TokenCommand {
    public var grantCommand: GrantCommand { .redeem(self) }
}

extension RefreshCommand: TokenCommand {
    public var grantCommand: GrantCommand { .refresh(self) }
}

extension AssertionCommand: TokenCommand {
    public var grantCommand: GrantCommand { .assertion(self) }
}
