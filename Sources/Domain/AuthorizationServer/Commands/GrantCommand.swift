public import AppleAccounts

/// A change of grants in one transaction. The rule of each command is in an extension of `GrantWorkingSet`.
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

/// The result of one grant command.
public enum GrantOutcome: Sendable, Hashable {
    case authorized(GrantRecord)
    case issued(IssuedTokens)
    case revoked
    case ended(GrantRecord)
    /// The grants that have ended, in the order of their IDs.
    case endedAll([GrantRecord])
    /// The number of token families whose Google account the command learned.
    case learned(Int)
    case googleEvent(GoogleEventReceipt)
    case deviceBegun(DeviceAuthorization)
    /// The grant; `nil` after a refusal.
    case deviceDecided(GrantRecord?)
}

/// Values from which the caller makes tokens.
public struct IssuedTokens: Sendable, Hashable {
    public let grant: GrantRecord
    public let family: TokenFamily
    /// The scope of the access token, space-separated; a part of the token family's scope.
    public let scope: String
    public let account: Account
    /// The `nonce` of the authorization request, for the ID token of a code.
    public let nonce: String?
    /// True if the offered refresh token was stored, or the refresh token was exchanged.
    public let hasNewRefreshToken: Bool
    /// The newest token of the family, after the exchange of a refresh token.
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

/// Refusal of a grant command. Each code states the changes despite the refusal.
public struct GrantRefusal: Error, Sendable, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        /// The account does not exist.
        case accountNotFound
        /// The account was erased here.
        case accountErased
        /// The account is disabled here. Tokens and codes stay.
        case accountDisabled
        /// The credential is not authorized, permanently or temporarily.
        case credentialRevoked
        /// The Apple Account is deleted.
        case appleAccountDeleted
        /// The authentication is older than the client allows.
        case authenticationTooOld
        /// The code does not exist, or its grant has ended.
        case codeNotFound
        case codeExpired
        case codeOfAnotherClient
        case redirectURIMismatch
        case codeVerifierMismatch
        /// The code was used within the last 10 seconds: a retry. No tokens were ended.
        case codeRetried
        /// The code was used earlier. This command ended its token family.
        case codeReused
        /// The token family does not exist: the family or its grant has ended, or it expired long ago.
        case refreshTokenNotFound
        /// The token was never issued: the family exists, and the secret is wrong.
        case refreshTokenForged
        case refreshTokenExpired
        case refreshTokenOfAnotherClient
        /// An old token of the token family. This command ended the family.
        case refreshTokenReused
        /// The request exceeds the scope that the user has agreed to.
        case scopeExceeded
        /// The client's configuration has none of the scopes any more. The code
        /// or token can be used when a scope is restored.
        case scopeWithdrawn
        /// The account has given the client the largest number of grants within an hour (`GrantPace`).
        case tooManyGrants
        /// The account has begun the largest number of token families of the client within an hour
        /// (`GrantPace`). A code can be redeemed later.
        case tooManyFamilies
        /// The account has no such grant, or the grant belongs to an app that the caller may not see.
        case grantNotFound
        /// Google has disabled the Google account, or has disabled and enabled it since the assertion was
        /// made.
        case googleAccountDisabled
        /// The Google account does not lead to this account, or no longer leads to it.
        case accountNotMatched
        /// No such device authorization is waiting, or the user's grant has ended.
        case deviceCodeNotFound
        case deviceCodeExpired
        /// The user has not decided. The time of the poll was recorded.
        case devicePending
        /// The poll came too early. Its time was recorded, and the interval has grown.
        case devicePolledEarly
        /// The user has denied access.
        case deviceDenied
        /// The client, or all clients together, have the largest number of device authorizations
        /// (`DeviceLimits`).
        case tooManyDevices
        /// Another device authorization has this user code.
        case userCodeTaken
    }

    public let code: Code
    /// Time from which a limit allows the command. `nil` for a code
    /// without a limit, and if the time is not known.
    public let endsAt: Moment?

    public init(_ code: Code, endsAt: Moment? = nil) { (self.code, self.endsAt) = (code, endsAt) }

    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.code == rhs.code }

    /// Seconds to wait for `endsAt`, at least 1.
    public func secondsToWait(at moment: Moment) -> Int64? {
        endsAt.map { max(($0.milliseconds - moment.milliseconds + 999) / 1000, 1) }
    }
}

extension GrantRefusal.Code {
    /// The reason of the refusal at the token endpoint.
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
