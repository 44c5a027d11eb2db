public import Cryptography
import Encodings

/// A sign-in, proven by a verified identity token.
public struct SignInCommand: Sendable, Hashable {
    public let key: SubjectKey
    /// The app's primary client ID.
    public let clientID: ClientID
    /// The token's `auth_time`, or its `iat` if that is missing.
    public let authorizedAt: Moment
    /// E-mail address from the token; `nil` if it has none.
    public let email: EmailAddress?
    public let realUserStatus: Int64?
    /// Unsigned profile from the app. Names are cleaned and shortened to a form that every store accepts.
    public let profile: Profile
    /// E-mail address from the app, not signed by Apple. Text that is not an e-mail address counts as absent.
    public let unsignedEmail: String?
    /// True to create an account for an unknown user; otherwise the command is refused.
    public let createsAccount: Bool
    /// The nonce; `nil` if there is none, or if it cannot be one of ours.
    public let nonce: SignInNonce?
    /// The code that came with the sign-in, to be exchanged later.
    public let authorizationCode: AuthorizationCodeOffer?
    /// Reason why this sign-in's code cannot be stored. The
    /// credential shows it unless a token is held or pending.
    public let refreshTokenCause: RefreshTokenCause?
    /// The token's `transfer_sub`. A value that cannot be a subject name counts as absent.
    public let transferSubject: AppleSubject?
    /// The App Attest proof that came with the sign-in.
    public let proof: AppProof?
    /// True to refuse the sign-in if the proof is invalid; otherwise the outcome reports the reason.
    public let demandsProof: Bool
    /// Arrival time, by our clock.
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
    /// The credential for the app that the user signed in to. It is also in the account's `credentials`.
    public let credential: Credential
    public let isNewAccount: Bool
    /// Reason why the App Attest proof is invalid; `nil` if there is no proof, if it is valid, or if it
    /// already failed before the transaction.
    public let proofRefusal: AccountRefusal.Code?
    /// Names of request values that were dropped: token claims and parts of `user` that no decision depends
    /// on.
    public var dropped: [String] = []

    public init(
        account: Account, credential: Credential, isNewAccount: Bool,
        proofRefusal: AccountRefusal.Code? = nil
    ) {
        (self.account, self.credential, self.isNewAccount) = (account, credential, isNewAccount)
        self.proofRefusal = proofRefusal
    }
}

/// A sign-in's nonce, classified without a database lookup.
public enum SignInNonce: Sendable, Hashable {
    /// This service minted the nonce, as its MAC proves.
    ///
    /// It can be used before `expiresAt`. Its digest is stored until `keptUntil`; after that, no token that
    /// contains it can be valid.
    case minted(NonceDigest, expiresAt: Moment, keptUntil: Moment)
    /// The nonce has our prefix but no valid MAC, so it was invented or minted under another key.
    case unproven(NonceDigest)
    /// Present only in the token: either the caller's own nonce, or the digest of one of ours. If it is known
    /// to have been used, the sign-in is refused even if the caller posted no nonce. Otherwise a thief could
    /// replay a stolen token whose nonce was used, simply by leaving out the nonce.
    case carried(NonceDigest)

    public var digest: NonceDigest {
        switch self {
        case .minted(let digest, _, _), .unproven(let digest), .carried(let digest): digest
        }
    }
}

/// The SHA-256 digest of a nonce. The nonce itself is never stored.
public struct NonceDigest: Sendable, Hashable {
    public let digest: SHA256Digest

    public init(_ digest: SHA256Digest) {
        self.digest = digest
    }

    /// Returns `nil` unless there are exactly 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard let digest = SHA256Digest(bytes) else { return nil }
        self.digest = digest
    }

    public var bytes: [UInt8] { digest.bytes }
}

/// A nonce that a sign-in has used.
public struct UsedNonce: Sendable, Hashable {
    public let digest: NonceDigest
    /// Time after which no token that contains the nonce can be valid.
    public let keptUntil: Moment

    public init(digest: NonceDigest, keptUntil: Moment) {
        (self.digest, self.keptUntil) = (digest, keptUntil)
    }
}

extension WorkingSet {
    /// Applies a sign-in. Everything is checked before anything changes, so that a refused sign-in has no
    /// effect except that its challenge is consumed.
    mutating func apply(
        _ command: SignInCommand, using generator: inout some RandomNumberGenerator
    ) throws(AccountRefusal) -> SignInOutcome {
        let position = position(of: command.key)
        let moved = try checkedTransfer(for: command, to: position)
        // This check runs after all others, so that a refused sign-in does not raise the counter.
        let proofRefusal = try usedProof(of: command)
        if let moved {
            takeTransfer(
                moved, to: command.key, at: command.authorizedAt, recordedAt: command.receivedAt,
                by: AuditOrigin(.user), using: &generator)
        }
        if let nonce = command.nonce { use(nonce) }
        endDisabling(at: position, ifOverAt: command.receivedAt, using: &generator)

        let before = events.count
        let change = subjects[position].take(command, using: &generator)
        if change.isNewAccount {
            append(.accountCreated, of: command, using: &generator)
        } else {
            if change.isEmailChanged { append(.emailChanged, of: command, using: &generator) }
            if change.isProfileChanged { append(.profileChanged, of: command, using: &generator) }
        }
        if change.isNewlyAuthorized {
            append(
                .credentialAuthorized, of: command, clientID: command.clientID, reason: .signedIn,
                using: &generator)
        }
        if events.count == before {
            noteSignIn(command, of: change.accountID, after: change.lastSignInAt)
        }
        if let offer = command.authorizationCode {
            insert(
                NewAuthorizationCode(
                    offer, accountID: change.accountID, primaryClientID: command.clientID,
                    authorizedAt: command.authorizedAt, nextAttemptAt: command.receivedAt))
        }
        return SignInOutcome(
            account: subjects[position].account(change.accountID, createdAt: change.createdAt),
            credential: subjects[position].credential(for: command.clientID),
            isNewAccount: change.isNewAccount, proofRefusal: proofRefusal)
    }

    /// Checks the sign-in. Returns the record that the sign-in moves to the user; `nil` if it moves none.
    private mutating func checkedTransfer(
        for command: SignInCommand, to position: Int
    ) throws(AccountRefusal) -> SubjectRecord? {
        do throws(AccountRefusal) {
            guard let moved = try transferredRecord(for: command) else {
                try check(command, against: subjects[position])
                return nil
            }
            try check(command, against: moved)
            return moved
        } catch {
            if let proof = command.proof { try? consume(proof.challenge) }
            throw error
        }
    }

    /// Returns the reason why the proof is invalid, or throws it if a valid proof is required.
    private mutating func usedProof(
        of command: SignInCommand
    ) throws(AccountRefusal) -> AccountRefusal.Code? {
        guard let proof = command.proof else { return nil }
        do throws(AccountRefusal) {
            try use(proof, at: command.receivedAt)
            return nil
        } catch {
            if command.demandsProof { throw error }
            return error.code
        }
    }

    private func check(_ command: SignInCommand, against subject: SubjectRecord) throws(AccountRefusal) {
        if let nonce = command.nonce { try check(nonce, at: command.receivedAt) }
        guard subject.record(for: command.clientID).admits(authorizationAt: command.authorizedAt) else {
            throw AccountRefusal(.credentialRevoked)
        }
        guard subject.accountID != nil || command.createsAccount else {
            throw AccountRefusal(.accountNotFound)
        }
        // This check runs last, so that a token that cannot sign the user in reveals nothing about the
        // account.
        guard !subject.isDisabled(at: command.receivedAt) else { throw AccountRefusal(.accountDisabled) }
    }

    private mutating func append(
        _ kind: AccountEvent.Kind, of command: SignInCommand, clientID: ClientID? = nil,
        reason: CredentialReason? = nil, using generator: inout some RandomNumberGenerator
    ) {
        events.append(
            AccountEvent(
                id: EventID(UniqueID(at: command.receivedAt, using: &generator)), kind: kind,
                key: command.key,
                accountID: subjects[position(of: command.key)].accountID, clientID: clientID, reason: reason,
                source: .signIn, moment: command.authorizedAt, recordedAt: command.receivedAt))
    }
}

extension WorkingSet {
    /// Refuses a nonce that was used, has expired, or has our format but was never minted.
    func check(_ nonce: SignInNonce, at moment: Moment) throws(AccountRefusal) {
        let isUsed = usedDigests.contains(nonce.digest)
        switch nonce {
        case .minted(_, let expiresAt, _):
            guard moment < expiresAt else { throw AccountRefusal(.nonceExpired) }
            guard !isUsed else { throw AccountRefusal(.nonceUsed) }
        case .unproven:
            throw AccountRefusal(isUsed ? .nonceUsed : .nonceExpired)
        case .carried:
            guard !isUsed else { throw AccountRefusal(.nonceUsed) }
        }
    }

    /// Marks a checked nonce as used if this service minted it. Callers check their own nonces.
    mutating func use(_ nonce: SignInNonce) {
        switch nonce {
        case .minted(let digest, _, let keptUntil):
            usedDigests.insert(digest)
            usedNonces.append(UsedNonce(digest: digest, keptUntil: keptUntil))
        case .unproven, .carried: break
        }
    }
}

extension SubjectRecord {
    /// Changes that callers can see, made by a sign-in.
    struct SignInChange {
        let accountID: AccountID
        let createdAt: Moment
        /// Time of the previous sign-in to this app.
        var lastSignInAt: Moment?
        var isNewAccount = false
        var isNewlyAuthorized = false
        var isEmailChanged = false
        var isProfileChanged = false
    }

    /// Applies a checked sign-in. If it contains no new facts, only the app's credential changes.
    mutating func take(
        _ command: SignInCommand, using generator: inout some RandomNumberGenerator
    ) -> SignInChange {
        let stateBefore = record(for: command.clientID).state
        var change: SignInChange
        if let accountID, let createdAt {
            change = SignInChange(accountID: accountID, createdAt: createdAt)
        } else {
            leaveTombstone()
            let id = AccountID(UniqueID(at: command.receivedAt, using: &generator))
            (accountID, createdAt) = (id, command.receivedAt)
            change = SignInChange(accountID: id, createdAt: command.receivedAt, isNewAccount: true)
            touchRow()
        }
        change.isEmailChanged = takeEmail(command)
        change.isProfileChanged = takeProfile(command)
        change.lastSignInAt = takeCredential(command)
        change.isNewlyAuthorized = stateBefore != .authorized
        return change
    }

    private mutating func takeEmail(_ command: SignInCommand) -> Bool {
        let visibleBefore = email?.value.address ?? unsignedEmail
        if let signed = command.email {
            let valueBefore = email?.value
            let written = LastWriter(signed, at: command.authorizedAt)
            email = written.merged(with: email)
            if email?.value != valueBefore || unsignedEmail != nil {
                unsignedEmail = nil
                touchRow()
                return true
            }
            return false
        }
        guard visibleBefore == nil, let unsigned = command.unsignedEmail else { return false }
        unsignedEmail = unsigned
        touchRow()
        return true
    }

    private mutating func takeProfile(_ command: SignInCommand) -> Bool {
        var isChanged = profile.fill(from: command.profile)
        if let status = command.realUserStatus, status > realUserStatus ?? -1 {
            realUserStatus = status
            isChanged = true
        }
        if isChanged { touchRow() }
        return isChanged
    }

    /// Adds the sign-in to the app's credential. Returns the time of the previous sign-in to the app, if any.
    private mutating func takeCredential(_ command: SignInCommand) -> Moment? {
        let index = touchCredential(of: command.clientID)
        credentials[index].record.merge(Authorization(moment: command.authorizedAt, source: .signIn))
        let lastSignInAt = credentials[index].lastSignInAt
        credentials[index].lastSignInAt = max(lastSignInAt ?? command.receivedAt, command.receivedAt)
        credentials[index].takeRefreshToken(of: command)
        return lastSignInAt
    }
}

extension AppCredential {
    /// Sets the refresh token status, unless a token is already held or pending.
    fileprivate mutating func takeRefreshToken(of command: SignInCommand) {
        if refreshToken?.mayHaveAppleTokens == true { return }
        if command.authorizationCode != nil {
            refreshToken = .pending
        } else if let cause = command.refreshTokenCause {
            refreshToken = .unavailable(cause)
        }
    }
}
