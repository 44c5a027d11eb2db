public import AppleAccounts

/// A change to grants in one transaction. The rules for the commands are in extensions of `GrantWorkingSet`.
public indirect enum GrantCommand: Sendable, Hashable {
    case authorize(AuthorizeCommand)
    case redeem(RedeemCommand)
    case refresh(RefreshCommand)
    case revoke(RevokeCommand)
    case end(EndGrantCommand)
    case endAll(EndGrantsCommand)
    case assertion(AssertionCommand)
    case exchange(TokenExchangeCommand)
    case beginDevice(BeginDeviceCommand)
    case decideDevice(DecideDeviceCommand)
    case pollDevice(PollDeviceCommand)
    case learnGoogleSubject(LearnGoogleSubjectCommand)
    case googleEvent(GoogleEventCommand)
}

extension GrantCommand: BatchCommand {
    public typealias Outcome = GrantOutcome
    public typealias Batch = GrantCommitResult
}

/// The result of a grant command.
public enum GrantOutcome: Sendable, Hashable {
    case authorized(GrantRecord)
    case issued(IssuedTokens)
    case revoked
    case ended(GrantRecord)
    /// The ended grants, ordered by ID.
    case endedAll([GrantRecord])
    /// The number of token families that the Google account was added to.
    case learned(Int)
    case googleEvent(GoogleEventReceipt)
    case deviceBegun(DeviceAuthorization)
    /// The grant. `nil` if the user denied the device access.
    case deviceDecided(GrantRecord?)
}

/// Values from which the caller creates the tokens.
public struct IssuedTokens: Sendable, Hashable {
    public let grant: GrantRecord
    public let family: TokenFamily
    /// The access token's scope, space-separated; a subset of the token family's scope.
    public let scope: String
    public let account: Account
    /// The `nonce` of the authorization request, for the ID token issued in exchange for a code.
    public let nonce: String?
    /// True if the command stored the offered refresh token, or exchanged a refresh token for its successor.
    public let hasNewRefreshToken: Bool
    /// The family's newest token, after the exchange of a refresh token.
    public let successor: RefreshTokenText?

    public init(
        grant: GrantRecord, family: TokenFamily, scope: String, account: Account, nonce: String? = nil,
        hasNewRefreshToken: Bool, successor: RefreshTokenText? = nil
    ) {
        self.grant = grant
        self.family = family
        self.scope = scope
        self.account = account
        self.nonce = nonce
        self.hasNewRefreshToken = hasNewRefreshToken
        self.successor = successor
    }
}

/// The refusal of a grant command. Each code's comment names the changes that the refused command still
/// makes.
public struct GrantRefusal: Error, Sendable, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        /// The account does not exist.
        case accountNotFound
        /// The account was erased in this service.
        case accountErased
        /// The account is disabled in this service. Its tokens and codes are kept.
        case accountDisabled
        /// The credential is not authorized, because it is revoked or suspended.
        case credentialRevoked
        /// The user has deleted the Apple Account.
        case appleAccountDeleted
        /// The authentication is older than the client allows.
        case authenticationTooOld
        /// The code does not exist, or its grant has ended.
        case codeNotFound
        case codeExpired
        case codeOfAnotherClient
        case redirectURIMismatch
        case codeVerifierMismatch
        /// The code was used less than 10 seconds ago, so this use counts as a retry and ends no tokens.
        case codeRetried
        /// The code was used more than 10 seconds ago, so this command has ended its token family.
        case codeReused
        /// There is no such token family: it or its grant has ended, or it expired long ago.
        case refreshTokenNotFound
        /// The service never issued the token: the family exists, but the secret is wrong.
        case refreshTokenForged
        case refreshTokenExpired
        case refreshTokenOfAnotherClient
        /// The token is an old token of its family, so this command has ended the family.
        case refreshTokenReused
        /// The request exceeds the scope that the user agreed to.
        case scopeExceeded
        /// The client's configuration no longer contains any of the scopes. The code or token becomes valid
        /// again once the configuration contains one of them.
        case scopeWithdrawn
        /// The account has reached the hourly limit on new grants to this client (`GrantPace`).
        case tooManyGrants
        /// The account has reached the hourly limit on new token families for this client (`GrantPace`). The
        /// code can still be redeemed later.
        case tooManyFamilies
        /// The account has no such grant, or the grant belongs to an app that the caller may not see.
        case grantNotFound
        /// Google has disabled the Google account, or has disabled and re-enabled it since the assertion was
        /// made.
        case googleAccountDisabled
        /// The Google account does not match this account, or no longer matches.
        case accountNotMatched
        /// No pending device authorization has this device code, or the user's grant has ended.
        case deviceCodeNotFound
        case deviceCodeExpired
        /// The user has not decided yet. The command recorded the time of the poll.
        case devicePending
        /// The device polled too early. The command recorded the time and increased the interval.
        case devicePolledEarly
        /// The user has denied access.
        case deviceDenied
        /// The client, or all clients together, have reached the limit on device authorizations
        /// (`DeviceLimits`).
        case tooManyDevices
        /// Another device authorization already uses this user code.
        case userCodeTaken
    }

    public let code: Code
    /// The time when the limit allows the command again. `nil` if the code is not about a limit, or if the
    /// time is unknown.
    public let endsAt: Moment?

    public init(_ code: Code, endsAt: Moment? = nil) { (self.code, self.endsAt) = (code, endsAt) }

    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.code == rhs.code }

    /// Returns the number of seconds until `endsAt`, at least 1; `nil` if `endsAt` is `nil`.
    public func secondsToWait(at moment: Moment) -> Int64? {
        endsAt.map { max(($0.milliseconds - moment.milliseconds + 999) / 1000, 1) }
    }
}

extension GrantRefusal.Code {
    /// The reason for the refusal, as the token endpoint reports it.
    public var reason: TokenRefusalReason {
        switch self {
        case .accountNotFound, .accountErased: .accountUnknown
        case .credentialRevoked, .appleAccountDeleted, .authenticationTooOld: .credentialRevoked
        case .accountDisabled: .accountDisabled
        case .codeNotFound: .codeUnknown
        case .codeExpired: .codeExpired
        case .codeOfAnotherClient, .refreshTokenOfAnotherClient: .otherClient
        case .redirectURIMismatch: .redirectURIDiffers
        case .codeVerifierMismatch: .verifierDiffers
        case .codeRetried: .codeRetried
        case .codeReused: .codeUsed
        case .refreshTokenNotFound, .grantNotFound: .familyEnded
        case .refreshTokenForged: .tokenUnknown
        case .refreshTokenExpired: .tokenExpired
        case .refreshTokenReused: .tokenRotated
        case .scopeExceeded: .scopeExceeded
        case .scopeWithdrawn: .scopeWithdrawn
        case .tooManyGrants, .tooManyDevices, .userCodeTaken: .limitReached
        case .tooManyFamilies: .familyLimitReached
        case .googleAccountDisabled: .googleAccountDisabled
        case .accountNotMatched: .accountNotMatched
        case .deviceCodeNotFound: .deviceCodeUnknown
        case .deviceCodeExpired: .deviceCodeExpired
        case .devicePending: .authorizationPending
        case .devicePolledEarly: .slowDown
        case .deviceDenied: .consentRefused
        }
    }
}

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
