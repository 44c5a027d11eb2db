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
