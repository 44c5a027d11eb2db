/// The newest refresh token for an account and client ID.
public struct RefreshTokenRecord: Sendable, Hashable {
    /// Distinguishes this token from earlier and later tokens.
    public let id: UniqueID
    public let accountID: AccountID
    /// The client ID that the token was issued to. Apple accepts the token only from this client.
    public let clientID: ClientID
    /// The app's primary client ID.
    public let primaryClientID: ClientID
    public var sealed: SealedSecret
    /// Authorization time from the identity token that came with its code.
    public let authorizedAt: Moment
    public var nextCheckAt: Moment
    /// Time since which a check has been due without success; `nil` unless the last check failed.
    public var uncheckedSince: Moment?

    public init(
        id: UniqueID, accountID: AccountID, clientID: ClientID, primaryClientID: ClientID,
        sealed: SealedSecret, authorizedAt: Moment, nextCheckAt: Moment, uncheckedSince: Moment? = nil
    ) {
        self.id = id
        self.accountID = accountID
        self.clientID = clientID
        self.primaryClientID = primaryClientID
        self.sealed = sealed
        self.authorizedAt = authorizedAt
        self.nextCheckAt = nextCheckAt
        self.uncheckedSince = uncheckedSince
    }

    /// Returns true if this token replaces the other. The ID only breaks ties, so that the same token wins in
    /// any order of arrival.
    func isNewer(than other: RefreshTokenRecord) -> Bool {
        (other.authorizedAt, other.id) < (authorizedAt, id)
    }
}

/// The status of Apple's refresh token for a user and an app.
public enum RefreshTokenStatus: Sendable, Hashable {
    /// A refresh token is held, even if a newer code is being exchanged.
    case held
    /// A code is waiting to be exchanged.
    case pending
    case unavailable(RefreshTokenCause)

    /// True if a store may have a code or a token; otherwise no lookup is needed.
    public var mayHaveAppleTokens: Bool {
        switch self {
        case .held, .pending: true
        case .unavailable: false
        }
    }
}

/// The reason why no refresh token is stored. The raw values are used in the API.
public enum RefreshTokenCause: String, Sendable, Hashable, CaseIterable {
    /// There is no sealing key, and tokens are never stored unsealed.
    case noSealingKey = "no_sealing_key"
    /// No private key is configured for the team, so no request to Apple is possible.
    case noSigningKey = "no_signing_key"
    /// Apple responded with `invalid_grant`: the code was already used, or was not issued to us.
    case codeRejected = "code_rejected"
    /// The code's five minutes passed while Apple was unreachable.
    case codeExpired = "code_expired"
    /// A request was sent to Apple but the response was lost.
    /// A code that may have been used is never sent again.
    case exchangeUncertain = "exchange_uncertain"
    /// Apple refused the client secret or the client ID.
    case clientRejected = "client_rejected"
    /// The identity token from the exchange names another user.
    case identityMismatch = "identity_mismatch"
    /// Apple refused the refresh token in a daily check.
    case rejected
    /// The token was dropped when the credential was revoked.
    case credentialRevoked = "credential_revoked"
    /// The token belonged to the team that the account was transferred from.
    case transferred
    /// No key could open the token.
    case sealedUnreadable = "sealed_unreadable"
}

/// A refresh token claimed for its daily check. The time of its
/// next check has already been moved, so no other worker checks it.
public struct ClaimedCheck: Sendable, Hashable {
    public let tokenID: UniqueID
    public let accountID: AccountID
    public let clientID: ClientID
    public let primaryClientID: ClientID
    public let sealed: SealedSecret
    public let authorizedAt: Moment
    /// Time since which the check has been due without success.
    public let dueSince: Moment
    public let key: SubjectKey

    /// - Parameter token: The token as it was before the claim.
    public init(_ token: RefreshTokenRecord, key: SubjectKey) {
        tokenID = token.id
        accountID = token.accountID
        clientID = token.clientID
        primaryClientID = token.primaryClientID
        sealed = token.sealed
        authorizedAt = token.authorizedAt
        dueSince = token.uncheckedSince ?? token.nextCheckAt
        self.key = key
    }
}
