public import AppleAccounts
public import TestSupport

/// Makes commands with few users, apps, moments and nonces, so that commands often affect the same records.
public struct RandomCommands: Sendable {
    public var generator: SeededGenerator
    public let clientIDs: [ClientID] = ["com.example.app", "com.example.other", "org.example.app"]
    public let keys: [SubjectKey]

    /// - Parameter subjects: The users of the first team. The second team has a user with the same `sub` as
    ///   one of them.
    public init(seed: UInt64, subjects: [AppleSubject] = ["s1", "s2"]) {
        generator = SeededGenerator(seed: seed)
        keys = subjects.map { .sample($0) } + [.sample(team: "OTHERTEAM1", subjects[0])]
    }

    public mutating func batch() -> [AccountCommand] {
        (0..<Int.random(in: 1...6, using: &generator)).map { _ in command() }
    }

    public mutating func command() -> AccountCommand {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0...5: .signIn(signIn())
        default: .notification(notification())
        }
    }

    public mutating func signIn() -> SignInCommand {
        let key = pick(keys)
        return .sample(
            key: key, clientID: pick(clientIDs(of: key.team)), authorizedAt: moment(), email: email(),
            realUserStatus: pick([nil, 0, 1, 2]),
            firstName: pick([nil, "", "Ada", "Élodie"]), lastName: pick([nil, "Lovelace"]),
            unsignedEmail: pick([nil, "posted@example.com"]),
            createsAccount: pick([true, true, false]),
            nonce: Int.random(in: 0..<5, using: &generator) == 0 ? nonce() : nil, receivedAt: moment())
    }

    public mutating func notification() -> NotificationCommand {
        let changes: [NotifiedEvent.Change] = [
            .consentRevoked, .consentRevoked, .emailForwarding(.enabled, email()),
            .emailForwarding(.disabled, email()), .unknown, .appleAccountDeleted,
        ]
        let key = pick(keys)
        return .sample(
            pick(changes), key: key, clientID: pick(clientIDs(of: key.team)), at: moment(),
            identifier: pick([nil, nil, "jti-1", "jti-2", "jti-3"]))
    }

    /// An app belongs to one team.
    private func clientIDs(of team: TeamID) -> [ClientID] {
        team == "OTHERTEAM1" ? ["org.example.app"] : ["com.example.app", "com.example.other"]
    }

    public mutating func moment() -> Moment {
        Moment(milliseconds: Int64.random(in: 1...8, using: &generator) * 1000)
    }

    public mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &generator)]
    }

    private mutating func email() -> EmailAddress? {
        pick([
            nil, .sample("x@example.com"), .sample("b@example.com", isVerified: false),
            .sample("b@example.com", isPrivate: nil),
            .sample("c@privaterelay.appleid.com", isPrivate: true),
        ])
    }

    private mutating func nonce() -> SignInNonce {
        let byte = UInt8.random(in: 1...6, using: &generator)
        return pick([
            .sample(byte, until: moment()), .sample(byte), .carried(.sample(byte)), .unproven(.sample(byte)),
        ])
    }
}

extension RandomCommands {
    /// A sign-in with a code of this number.
    mutating func signIn(withCode number: UInt64) -> SignInCommand {
        let plain = signIn()
        return .sample(
            key: plain.key, clientID: plain.clientID, authorizedAt: plain.authorizedAt, email: plain.email,
            firstName: plain.profile.firstName,
            authorizationCode: .sample(number, clientID: plain.clientID),
            refreshTokenCause: pick([nil, .noSealingKey]), receivedAt: plain.receivedAt)
    }

    /// A change of the codes and tokens with numbers up to this number, or of an account.
    mutating func userCommand(upTo number: UInt64) -> UserCommand {
        let (key, code) = (pick(keys), UInt64.random(in: 1...number, using: &generator))
        let (moment, fresh) = (self.moment(), UInt64(1_000_000) + number)
        let clientID: ClientID =
            key.team == "OTHERTEAM1" ? "org.example.app" : pick(["com.example.app", "com.example.other"])
        let token = pick([code, fresh, nil])
        let target = pick(keys)
        switch Int.random(in: 0..<13, using: &generator) {
        case 10...12: return accountChange(of: key)
        case 0...4:
            return UserCommand(key: key) { account in
                .finishExchange(
                    .sample(
                        code: code, account: account, clientID: clientID, token: token, authorizedAt: moment))
            }
        case 5...7:
            return UserCommand(key: key) { account in
                .rejectRefreshToken(
                    .sample(token: code, account: account, clientID: clientID, at: moment))
            }
        case 8:
            return UserCommand(key: key) { account in
                .erase(.sample(2_000_000 + number, account: account, at: moment))
            }
        default:
            return UserCommand(key: key) { account in
                .transfer(
                    TransferCommand(
                        accountID: account.id, from: key, to: target, clientID: clientID, email: nil,
                        createdAt: account.createdAt, receivedAt: moment))
            }
        }
    }

    /// Disables, enables or signs out an account. Accounts are enabled most often, so that sign-ins go on.
    mutating func accountChange(of key: SubjectKey) -> UserCommand {
        let (moment, end) = (self.moment(), pick([self.moment(), .last]))
        let reason = pick(Disabling.Reason.allCases)
        switch Int.random(in: 0..<7, using: &generator) {
        case 0, 1:
            return UserCommand(key: key) { .disable(.sample($0, reason: reason, until: end, at: moment)) }
        case 2: return UserCommand(key: key) { .signOut(.sample($0, keptClients: ["google"], at: moment)) }
        case 3: return UserCommand(key: key) { .enable(.sample($0, onlyIfOver: true, at: moment)) }
        default: return UserCommand(key: key) { .enable(.sample($0, at: moment)) }
        }
    }
}

/// A command about a user's account, whose ID differs in each store.
struct UserCommand: Sendable {
    let key: SubjectKey
    let make: @Sendable (Account) -> AccountCommand

    /// The command for one store; `nil` when the user has no account there.
    func command(for store: any AccountStore) async throws -> AccountCommand? {
        try await store.account(key).map { make($0) }
    }
}
