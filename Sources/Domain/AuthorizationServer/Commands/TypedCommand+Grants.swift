public import AppleAccounts

extension AuthorizeCommand: TypedCommand {
    public var untyped: GrantCommand { .authorize(self) }

    public static func output(_ outcome: GrantOutcome) -> GrantRecord? {
        if case .authorized(let output) = outcome { output } else { nil }
    }
}

extension EndGrantCommand: TypedCommand {
    public var untyped: GrantCommand { .end(self) }

    public static func output(_ outcome: GrantOutcome) -> GrantRecord? {
        if case .ended(let output) = outcome { output } else { nil }
    }
}

extension EndGrantsCommand: TypedCommand {
    public var untyped: GrantCommand { .endAll(self) }

    public static func output(_ outcome: GrantOutcome) -> [GrantRecord]? {
        if case .endedAll(let output) = outcome { output } else { nil }
    }
}

extension RevokeCommand: TypedCommand {
    public var untyped: GrantCommand { .revoke(self) }

    public static func output(_ outcome: GrantOutcome) -> Void? {
        if case .revoked = outcome { () } else { nil }
    }
}

extension LearnGoogleSubjectCommand: TypedCommand {
    public var untyped: GrantCommand { .learnGoogleSubject(self) }

    public static func output(_ outcome: GrantOutcome) -> Int? {
        if case .learned(let output) = outcome { output } else { nil }
    }
}

extension GoogleEventCommand: TypedCommand {
    public var untyped: GrantCommand { .googleEvent(self) }

    public static func output(_ outcome: GrantOutcome) -> GoogleEventReceipt? {
        if case .googleEvent(let output) = outcome { output } else { nil }
    }
}

extension BeginDeviceCommand: TypedCommand {
    public var untyped: GrantCommand { .beginDevice(self) }

    public static func output(_ outcome: GrantOutcome) -> DeviceAuthorization? {
        if case .deviceBegun(let output) = outcome { output } else { nil }
    }
}

extension DecideDeviceCommand: TypedCommand {
    public var untyped: GrantCommand { .decideDevice(self) }

    public static func output(_ outcome: GrantOutcome) -> GrantRecord?? {
        if case .deviceDecided(let output) = outcome { .some(output) } else { nil }
    }
}

/// A command that yields tokens.
public protocol TokenCommand: TypedCommand where Command == GrantCommand, Output == IssuedTokens {}

extension TokenCommand {
    public static func output(_ outcome: GrantOutcome) -> IssuedTokens? {
        if case .issued(let output) = outcome { output } else { nil }
    }
}

extension RedeemCommand: TokenCommand {
    public var untyped: GrantCommand { .redeem(self) }
}

extension RefreshCommand: TokenCommand {
    public var untyped: GrantCommand { .refresh(self) }
}

extension AssertionCommand: TokenCommand {
    public var untyped: GrantCommand { .assertion(self) }
}

extension TokenExchangeCommand: TokenCommand {
    public var untyped: GrantCommand { .exchange(self) }
}

extension PollDeviceCommand: TokenCommand {
    public var untyped: GrantCommand { .pollDevice(self) }
}
