public import AppleAccounts
import AuthorizationServer

/// A user with a value in every personal column. No other user has these values, so that a search of the
/// whole database finds values that an erasure has left.
public enum TracedUser {
    /// Values that are stored until the erasure of the user.
    public static let lastTraces = [
        "trace-sub", "trace-mail", "Tracey", "Tracington", "trace-payload", "trace-transfer",
    ]
    /// Values that are stored until the erasure, and values that were replaced before.
    public static let traces = lastTraces + ["trace-posted", "trace-relay"]

    /// Makes the user after this many others, `other-0` and so on.
    public static func make(
        in store: some AccountStore & AppleTokenStore & TransferStore, others: Int
    ) async throws -> Account {
        let key = SubjectKey.sample("001999.trace-sub.0123")
        for number in 0..<others { try await store.signIn(.sample(key: .sample("other-\(number)"))) }
        func notify(_ change: NotifiedEvent.Change, _ number: Int64, _ clientID: ClientID) async throws {
            try await store.notify(
                .sample(
                    change, key: key, clientID: clientID, at: Moment(milliseconds: number),
                    identifier: "jti-\(number)", payload: "trace-payload-\(number)"))
        }
        try await notify(.consentRevoked, 500, "com.example.other")
        try await store.signIn(
            .sample(
                key: key, authorizedAt: 1000, email: nil, firstName: "Tracey", lastName: "Tracington",
                unsignedEmail: "trace-posted@example.com"))
        let relay = EmailAddress.sample("trace-relay@privaterelay.appleid.com", isPrivate: true)
        try await notify(.emailForwarding(.disabled, relay), 3000, "com.example.app")
        try await notify(.unknown, 3001, "com.example.app")
        try await store.hold(1, key: key, authorizedAt: 4000)
        let account = try await store.signIn(
            .sample(
                key: key, authorizedAt: 5000, email: .sample("trace-mail@example.com"),
                authorizationCode: .sample(3))
        ).account
        // For the history: an exchange that fails, and a revocation that comes late.
        try await store.exchange(
            ExchangeCommand(
                codeID: .sample(3), key: key, accountID: account.id, clientID: "com.example.app",
                primaryClientID: "com.example.app", outcome: .unavailable(.codeRejected), receivedAt: 5500))
        try await notify(.consentRevoked, 600, "com.example.app")
        try await store.importTransfers([
            TransferRecord(
                recipientTeam: "OTHERTEAM1", transferSubject: "trace-transfer", accountID: account.id,
                from: key, createdAt: 1, expiresAt: 9_000_000)
        ])
        return account
    }

    /// Makes another user, with values that the first user cannot have at the same time: an address that the
    /// app posted and Apple never signed, a code that was not exchanged, and a credential without a token.
    package static func makeSecond(in store: some AccountStore) async throws -> Account {
        let key = SubjectKey.sample("001999.trace-second.0123")
        try await store.signIn(
            .sample(
                key: key, clientID: "com.example.other", authorizedAt: 2000, email: nil,
                refreshTokenCause: .noSealingKey))
        return try await store.signIn(
            .sample(
                key: key, authorizedAt: 3000, email: nil, realUserStatus: 2, firstName: "Tracina",
                lastName: "Tracelli", unsignedEmail: "trace-second@example.com",
                authorizationCode: .sample(7, redirectURI: "https://trace.example.com/back"))
        ).account
    }

    /// Moves the user to another team, with another `sub`.
    public static func move(
        _ account: Account, in store: some AccountStore & AppleTokenStore
    ) async throws -> Account {
        try await store.transfer(
            TransferCommand(
                accountID: account.id, from: SubjectKey(team: account.team, subject: account.subject),
                to: .sample(team: "OTHERTEAM1", "trace-new-name"), clientID: "com.example.app",
                email: .sample("trace-new-mail@example.com"), createdAt: account.createdAt, receivedAt: 8000))
        return try unwrap(try await store.account(account.id))
    }
}

extension TracedUser {
    /// Gives OAuth clients every value that they can have about the user.
    static func link(_ account: Account, in store: some AuthorizationStore) async throws {
        let subject = "trace-google-account"
        let challenge = "trace-challenge-" + String(repeating: "x", count: 27)
        try await store.carryOut(
            .googleEvent(
                .sample(.enable(googleSubject: subject, at: 5999), jti: "trace-event", receivedAt: 5999)))
        try await store.carryOut(
            .assertion(
                .sample(
                    1, account: account.id, subject: subject, match: .email("trace-mail@example.com"),
                    assertedAt: 6000, at: 6000)))
        for number in 2...3 as ClosedRange<UInt64> {
            try await store.authorize(
                .sample(
                    number, account: account.id,
                    challenge: CodeRecord.StoredChallenge(text: challenge, isPlain: true),
                    scope: "openid trace-scope", nonce: "trace-nonce", authenticatedAt: 5500,
                    at: Moment(milliseconds: 6000 + Int64(number))))
        }
        try await store.redeem(.sample(2, verifier: challenge, at: 6010))
        try await store.refresh(.sample(SampleToken(family: 2), at: 6020))
    }
}

// IDs are random: two stores that do the same differ in them and in nothing else.

private let noID = UniqueID(high: 0, low: 0)

extension Account {
    var withoutIDs: Account {
        var account = self
        account.id = AccountID(noID)
        return account
    }
}

extension AccountEvent {
    var withoutIDs: AccountEvent {
        AccountEvent(
            sequence: sequence, id: EventID(noID), kind: kind, team: team, subject: subject,
            accountID: accountID.map { _ in AccountID(noID) }, clientID: clientID, reason: reason,
            source: source, grant: grant, moment: moment, recordedAt: recordedAt)
    }
}

extension ErasureRecord {
    var withoutIDs: ErasureRecord {
        ErasureRecord(
            id: id, accountID: AccountID(noID), team: team, requestedAt: requestedAt, deadline: deadline,
            finishedAt: finishedAt, apps: apps, tokens: tokens.map(\.withoutSecret))
    }
}

extension ErasureToken {
    /// The record without its secret, because the secrets of the samples name their accounts.
    fileprivate var withoutSecret: ErasureToken {
        var grant = self
        grant.sealed = nil
        return grant
    }
}

extension CommandResult {
    var withoutIDs: CommandResult {
        switch self {
        case .done(.signedIn(let outcome)):
            .done(
                .signedIn(
                    SignInOutcome(
                        account: outcome.account.withoutIDs, credential: outcome.credential,
                        isNewAccount: outcome.isNewAccount)))
        case .done(.erased(let record)): .done(.erased(record.withoutIDs))
        case .done(.changed(let account)): .done(.changed(account.withoutIDs))
        default: self
        }
    }
}
