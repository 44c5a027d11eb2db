public import AppleAccounts

/// A change of grants that one transaction carries out. Extensions of `GrantWorkingSet` have the rule of
/// each.
public enum GrantCommand: Sendable, Hashable {
    case authorize(AuthorizeCommand)
    case redeem(RedeemCommand)
    case refresh(RefreshCommand)
    case revoke(RevokeCommand)
    case end(EndGrantCommand)
    case assertion(AssertionCommand)
    case googleEvent(GoogleEventCommand)
}

/// The result of one grant command.
public enum GrantOutcome: Sendable, Hashable {
    case authorized(GrantRecord)
    case issued(IssuedTokens)
    case revoked
    case ended(GrantRecord)
    case googleEvent(GoogleEventReceipt)
}

/// What the caller may now make tokens for.
public struct IssuedTokens: Sendable, Hashable {
    public let grant: GrantRecord
    public let line: TokenLine
    /// What the access token may do, space-separated; a part of the line's scope.
    public let scope: String
    public let account: Account
    /// From the authorization request, for the ID token of a code.
    public let nonce: String?
    /// Whether the offered refresh token was taken over.
    public let hasNewRefreshToken: Bool

    public init(
        grant: GrantRecord, line: TokenLine, scope: String, account: Account, nonce: String? = nil,
        hasNewRefreshToken: Bool
    ) {
        self.grant = grant
        self.line = line
        self.scope = scope
        self.account = account
        self.nonce = nonce
        self.hasNewRefreshToken = hasNewRefreshToken
    }
}

public enum GoogleEventReceipt: String, Sendable, Hashable, CaseIterable {
    case applied
    case duplicate
}

/// A grant command that was not carried out. What it changed all the same is said at the code.
public struct GrantRefusal: Error, Sendable, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        /// There is no such account.
        case accountNotFound
        /// The account was erased here.
        case accountErased
        /// The credential is not authorized, for good or for now.
        case credentialRevoked
        /// The Apple Account is deleted.
        case appleAccountDeleted
        /// The authentication is older than the client allows.
        case authenticationTooOld
        /// No such code, or past its time. Also a code whose grant has ended.
        case codeNotFound
        case codeOfAnotherClient
        case redirectURIMismatch
        case codeVerifierMismatch
        /// Used within the last 10 seconds: a retry. Nothing was ended.
        case codeRetried
        /// Used before that. What the code gave was ended by this command.
        case codeReused
        /// No such token, or past its time. Also one whose line or grant has ended.
        case refreshTokenNotFound
        case refreshTokenOfAnotherClient
        /// An old token of the line. The line was ended by this command.
        case refreshTokenReused
        /// More was asked for than the person has agreed to.
        case scopeExceeded
        /// The client has none of the scopes any more. The code or token can be used when one is back.
        case scopeWithdrawn
        /// The account has given the client as many grants within an hour as it can (`GrantPace`).
        case tooManyGrants
        /// No such grant of the account, or one of an app that the caller may not see.
        case grantNotFound
        /// Google has disabled the Google account, or has disabled and enabled it since it made the
        /// assertion.
        case googleAccountDisabled
        /// The Google account does not lead to this account, or does not any more.
        case accountNotMatched
    }

    public let code: Code

    public init(_ code: Code) { self.code = code }
}
