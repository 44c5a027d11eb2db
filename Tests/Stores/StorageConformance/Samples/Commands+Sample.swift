public import AppleAccounts

extension SubjectKey {
    public static func sample(
        team: TeamID = "A1B2C3D4E5", _ subject: AppleSubject = "001999.0123456789abcdef.0123"
    ) -> SubjectKey {
        SubjectKey(team: team, subject: subject)
    }
}

extension EmailAddress {
    public static func sample(
        _ address: String = "user@example.com", isVerified: Bool = true, isPrivate: Bool? = false
    ) -> EmailAddress {
        guard let email = EmailAddress(address: address, isVerified: isVerified, isPrivate: isPrivate) else {
            preconditionFailure("not an address: \(address)")
        }
        return email
    }
}

extension NonceDigest {
    public static func sample(_ byte: UInt8 = 7) -> NonceDigest {
        guard let digest = NonceDigest(Array(repeating: byte, count: 32)) else {
            preconditionFailure("32 bytes are a digest")
        }
        return digest
    }
}

extension SignInNonce {
    /// A minted nonce with a long validity.
    public static func sample(
        _ byte: UInt8 = 7, until end: Moment = 9_000_000, keptUntil: Moment = 90_000_000
    ) -> SignInNonce {
        .minted(.sample(byte), expiresAt: end, keptUntil: keptUntil)
    }
}

extension NonceKey {
    public static func sample(_ byte: UInt8 = 7) -> NonceKey {
        guard let key = NonceKey(Array(repeating: byte, count: 32)) else {
            preconditionFailure("32 bytes are a key")
        }
        return key
    }
}

extension SignInCommand {
    public static func sample(
        key: SubjectKey = .sample(), clientID: ClientID = "com.example.app", authorizedAt: Moment = 1_000_000,
        email: EmailAddress? = .sample(), realUserStatus: Int64? = nil, firstName: String? = nil,
        lastName: String? = nil, unsignedEmail: String? = nil, createsAccount: Bool = true,
        nonce: SignInNonce? = nil, authorizationCode: AuthorizationCodeOffer? = nil,
        refreshTokenCause: RefreshTokenCause? = nil,
        transferSubject: String? = nil, proof: AppProof? = nil, demandsProof: Bool = false,
        receivedAt: Moment? = nil
    ) -> SignInCommand {
        SignInCommand(
            key: key, clientID: clientID, authorizedAt: authorizedAt, email: email,
            realUserStatus: realUserStatus, profile: Profile(firstName: firstName, lastName: lastName),
            unsignedEmail: unsignedEmail, createsAccount: createsAccount, nonce: nonce,
            authorizationCode: authorizationCode,
            refreshTokenCause: refreshTokenCause, transferSubject: transferSubject,
            proof: proof, demandsProof: demandsProof,
            receivedAt: receivedAt ?? authorizedAt.advanced(byMilliseconds: 1234))
    }
}

extension NotificationCommand {
    /// An event, with an identifier of its own by default.
    public static func sample(
        _ change: NotifiedEvent.Change = .consentRevoked, type: String? = nil, key: SubjectKey = .sample(),
        clientID: ClientID = "com.example.app", at moment: Moment = 2_000_000,
        identifier: InboxIdentifier? = nil, payload: String = "header.payload.signature"
    ) -> NotificationCommand {
        let type = type ?? change.sampleType
        let ownName = "\(clientID.rawValue)/\(key.subject.rawValue)/\(type)/\(moment.milliseconds)"
        return NotificationCommand(
            identifier: identifier ?? InboxIdentifier(stringLiteral: String(ownName.prefix(255))),
            team: key.team, clientID: clientID,
            events: [NotifiedEvent(change: change, type: type, subject: key.subject, moment: moment)],
            payload: payload, receivedAt: moment.advanced(byMilliseconds: 17_000))
    }
}

extension NotifiedEvent.Change {
    fileprivate var sampleType: String {
        switch self {
        case .consentRevoked: "consent-revoked"
        case .appleAccountDeleted: "account-deleted"
        case .emailForwarding(.disabled, _): "email-disabled"
        case .emailForwarding: "email-enabled"
        case .unknown: "something-new"
        }
    }
}

extension DisableCommand {
    public static func sample(
        _ account: Account, reason: Disabling.Reason = .abuse, until: Moment = .last, scope: AppScope = .all,
        at moment: Moment = 2_050_000
    ) -> DisableCommand {
        DisableCommand(
            key: SubjectKey(team: account.team, subject: account.subject), accountID: account.id,
            reason: reason, until: until, scope: scope, moment: moment)
    }
}

extension EnableCommand {
    public static func sample(
        _ account: Account, onlyIfOver: Bool = false, scope: AppScope = .all, at moment: Moment = 2_060_000
    ) -> EnableCommand {
        EnableCommand(
            key: SubjectKey(team: account.team, subject: account.subject), accountID: account.id,
            onlyIfOver: onlyIfOver, scope: scope, moment: moment)
    }
}

extension SignOutCommand {
    public static func sample(
        _ account: Account, keptClients: Set<OAuthClientID> = [], scope: AppScope = .all,
        at moment: Moment = 2_050_000
    ) -> SignOutCommand {
        SignOutCommand(
            key: SubjectKey(team: account.team, subject: account.subject), accountID: account.id,
            keptClients: keptClients, scope: scope, moment: moment)
    }
}

extension AccountStore {
    @discardableResult
    public func change(_ command: some AccountChangeCommand) async throws -> Account {
        guard case .changed(let account) = try await carryOut(command.untyped) else {
            throw ConformanceFailure(description: "a change of an account had another outcome")
        }
        return account
    }
}

// Tests write names as literals. One that is no name is a mistake in the test.

extension TeamID: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) {
        guard let name = TeamID(text) else { preconditionFailure("not a team ID: \(text)") }
        self = name
    }
}

extension ClientID: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) {
        guard let name = ClientID(text) else { preconditionFailure("not a client ID: \(text)") }
        self = name
    }
}

extension ReceiverName: ExpressibleByStringLiteral {
    public init(stringLiteral text: String) {
        guard let name = ReceiverName(text) else { preconditionFailure("not a receiver's name: \(text)") }
        self = name
    }
}

extension AppleSubject: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) {
        guard let name = AppleSubject(text) else { preconditionFailure("not a subject: \(text)") }
        self = name
    }
}

extension InboxIdentifier: ExpressibleByStringInterpolation {
    public init(stringLiteral text: String) {
        guard let name = InboxIdentifier(text) else { preconditionFailure("not an identifier: \(text)") }
        self = name
    }
}

extension Moment: ExpressibleByIntegerLiteral {
    /// Milliseconds.
    public init(integerLiteral milliseconds: Int64) {
        self.init(milliseconds: milliseconds)
    }
}

/// Seals so that a test can read the value and its purpose. The stores of the suite are opened with it.
public struct SampleSealing: AppleTokenSealing {
    public init() {}

    /// Seals a secret. The longest secret becomes the longest sealed value that a store accepts.
    public func seal(
        _ secret: AppleTokenSecret, as purpose: SealedPurpose, of account: AccountID, clientID: ClientID
    ) -> SealedSecret {
        if secret.text.utf8.count == AppleTokenSecret.longest { return Self.longest }
        return .sample("\(secret.text) of \(account.rawValue)")
    }

    static let longest = SealedSecret.sample(String(repeating: "7", count: SealedSecret.longest))
}
