import Encodings

/// A sign-in, shown by a verified identity token.
public struct SignInCommand: Sendable, Hashable {
    public let key: SubjectKey
    /// The app's primary client ID.
    public let clientID: ClientID
    /// The token's `auth_time`, else its `iat`.
    public let authorizedAt: Moment
    /// E-mail address of the token; `nil` when it has none.
    public let email: EmailAddress?
    public let realUserStatus: Int64?
    /// From the app, unsigned. Names are cleaned and cut to what every store accepts.
    public let profile: Profile
    /// From the app, unsigned. A text that is no address counts as absent.
    public let unsignedEmail: String?
    /// Creates an account for an unknown user. Otherwise the command is refused.
    public let createsAccount: Bool
    /// `nil` without a nonce, and for a nonce that cannot be ours.
    public let nonce: SignInNonce?
    /// A code that came along, to be exchanged later.
    public let authorizationCode: AuthorizationCodeOffer?
    /// Reason why the code of this sign-in cannot be kept. The credential shows it unless a token is held or
    /// pending.
    public let refreshTokenCause: RefreshTokenCause?
    /// The token's `transfer_sub`. A value that cannot be a name counts as absent.
    public let transferSubject: AppleSubject?
    /// A proof of App Attest that came along.
    public let proof: AppProof?
    /// Refuses the sign-in if the proof does not hold. Otherwise the outcome says so.
    public let demandsProof: Bool
    /// By our clock.
    public let receivedAt: Moment

    public init(
        key: SubjectKey, clientID: ClientID, authorizedAt: Moment, email: EmailAddress? = nil,
        realUserStatus: Int64? = nil, profile: Profile = Profile(), unsignedEmail: String? = nil,
        createsAccount: Bool = true, nonce: SignInNonce? = nil,
        authorizationCode: AuthorizationCodeOffer? = nil,
        refreshTokenCause: RefreshTokenCause? = nil, transferSubject: String? = nil, proof: AppProof? = nil,
        demandsProof: Bool = false, receivedAt: Moment
    ) {
        self.key = key
        self.clientID = clientID
        self.authorizedAt = authorizedAt
        self.email = email
        self.realUserStatus = realUserStatus
        self.profile = profile.storable
        self.unsignedEmail = unsignedEmail.flatMap { $0.isMailAddress ? $0 : nil }
        self.createsAccount = createsAccount
        self.nonce = nonce
        self.authorizationCode = authorizationCode
        self.refreshTokenCause = refreshTokenCause
        self.transferSubject = transferSubject.flatMap { AppleSubject($0) }
        self.proof = proof
        self.demandsProof = demandsProof
        self.receivedAt = receivedAt
    }
}

/// The result of a sign-in.
public struct SignInOutcome: Sendable, Hashable {
    public let account: Account
    /// The credential for the app of this sign-in. It is also in the account's `credentials`.
    public let credential: Credential
    public let isNewAccount: Bool
    /// Reason why the proof of App Attest does not hold. `nil` without a proof, for a proof that holds, and
    /// for a proof that failed before the transaction.
    public let proofRefusal: AccountRefusal.Code?
    /// The names of values of the request that were dropped: claims of the token and parts of `user` that decide
    /// nothing.
    public var dropped: [String] = []

    public init(
        account: Account, credential: Credential, isNewAccount: Bool,
        proofRefusal: AccountRefusal.Code? = nil
    ) {
        (self.account, self.credential, self.isNewAccount) = (account, credential, isNewAccount)
        self.proofRefusal = proofRefusal
    }
}
