import AppleAccounts
import StorageConformance
import TestSupport
import Testing

@Suite struct WorkingSetTests {
    @Test func `asks for each subject once and for all that its commands have to see`() {
        let set = WorkingSet([
            .signIn(.sample(key: .sample("one"), nonce: .sample(3))),
            .notification(.sample(key: .sample("two"), identifier: "jti-1")),
            .signIn(.sample(key: .sample("one"))),
            .signIn(.sample(key: .sample("two"), nonce: .carried(.sample(4)))),
        ])
        #expect(set.subjectKeys == [.sample("one"), .sample("two")])
        #expect(set.nonceDigests == [.sample(3), .sample(4)])
        #expect(set.inboxIdentifiers == ["jti-1"])
        #expect(set.inboxKeys.map(\.subject) == ["two"])
    }

    @Test func `marks only the credential of a known sign-in with nothing new`() {
        var known = SubjectRecord(key: .sample(), isStored: true)
        known.accountID = AccountID(UniqueID(high: 1, low: 2))
        known.createdAt = 1
        known.email = LastWriter(.sample(), at: 500)
        known.credentials = [
            AppCredential(
                clientID: "com.example.app",
                record: CredentialRecord(authorization: Authorization(moment: 500, source: .signIn)),
                lastSignInAt: 600),
            AppCredential(clientID: "com.example.other"),
        ]
        var set = WorkingSet([.signIn(.sample())])
        set.load(known, at: 0)
        var generator = SeededGenerator(seed: 1)
        _ = set.applyCommands(using: &generator)
        #expect(set.subjects[0].rowChange == .none)
        #expect(set.subjects[0].credentials.map(\.rowChange) == [.update, .none])
        #expect(set.events.isEmpty)
    }

    @Test func `marks nothing when it refuses`() {
        var set = WorkingSet([
            .signIn(.sample(createsAccount: false)), .signIn(.sample(nonce: .unproven(.sample()))),
        ])
        var generator = SeededGenerator(seed: 1)
        let results = set.applyCommands(using: &generator)
        #expect(
            results == [
                .refused(AccountRefusal(.accountNotFound)), .refused(AccountRefusal(.nonceExpired)),
            ])
        #expect(set.subjects == [SubjectRecord(key: .sample())])
        #expect(set.events.isEmpty)
        #expect(set.usedNonces.isEmpty)
    }

    /// Credentials do not depend on the order, the repetition or the batches of Apple's reports.
    @Test func `ends in the same states after any order, repetition and batching`() async throws {
        for seed in 0..<1500 as Range<UInt64> {
            var random = RandomCommands(seed: seed)
            let count = Int.random(in: 2...8, using: &random.generator)
            let commands = (0..<count).map { _ in
                random.generator.next() % 2 == 0
                    ? AccountCommand.signIn(random.lasting(random.signIn()))
                    : .notification(random.identified(random.notification()))
            }
            var expected: [CredentialState?: [String]] = [:]
            for round in 0..<3 {
                let again = commands.shuffled(using: &random.generator).prefix(
                    Int(random.generator.next() % 3))
                let deliveries = round == 0 ? commands : (commands + again).shuffled(using: &random.generator)
                let store = ReferenceStore(seed: seed)
                var rest = deliveries[...]
                while !rest.isEmpty {
                    let size = Int.random(in: 1...rest.count, using: &random.generator)
                    _ = try await store.commit(Array(rest.prefix(size)))
                    rest = rest.dropFirst(size)
                }
                let found = try await Self.states(in: store, of: random)
                if round == 0 { expected[nil] = found }
                #expect(found == expected[nil], "seed \(seed)")
            }
        }
    }

    private static func states(in store: ReferenceStore, of random: RandomCommands) async throws -> [String] {
        var states: [String] = []
        for key in random.keys {
            for clientID in random.clientIDs {
                let record = try await store.credentials(
                    team: key.team, clientID: clientID, subjects: [key.subject])[0]
                states.append(
                    "\(record.state) \(record.reason as Any) \(record.source as Any) \(record.since as Any)")
            }
            states.append("\(store.record(key)?.forwarding as Any)")
        }
        return states
    }

    /// Without refused sign-ins, the address too depends only on Apple's moments.
    @Test func `ends with the same address after any order`() async throws {
        for seed in 0..<1000 as Range<UInt64> {
            var random = RandomCommands(seed: seed)
            let commands = (0..<6).map { number -> AccountCommand in
                let email = EmailAddress.sample("\(random.pick(["a", "b", "c"]))@example.com")
                guard random.generator.next() % 2 == 0 else {
                    return .notification(
                        .sample(
                            .emailForwarding(.enabled, email), at: Moment(milliseconds: Int64(number) * 1000),
                            identifier: "jti-\(number)"))
                }
                return .signIn(.sample(authorizedAt: random.moment(), email: email, receivedAt: 9000))
            }
            var expected: LastWriter<EmailAddress>?
            for round in 0..<4 {
                let store = ReferenceStore(seed: seed)
                for command in round == 0 ? commands : commands.shuffled(using: &random.generator) {
                    _ = try await store.commit([command])
                }
                let found = store.record(.sample())?.email
                if round == 0 { expected = found }
                #expect(found == expected, "seed \(seed)")
            }
        }
    }
}

extension RandomCommands {
    /// The command without dependencies on other commands: nonces, and the refusal to make an account.
    fileprivate func lasting(_ command: SignInCommand) -> SignInCommand {
        .sample(
            key: command.key, clientID: command.clientID, authorizedAt: command.authorizedAt,
            email: command.email, receivedAt: command.receivedAt)
    }

    /// The command with an identifier of its own: of two events with the same identifier only the first
    /// counts.
    fileprivate func identified(_ command: NotificationCommand) -> NotificationCommand {
        .sample(
            command.events[0].change, key: SubjectKey(team: command.team, subject: command.subject),
            clientID: command.clientID, at: command.events[0].moment)
    }
}

extension NotificationCommand {
    fileprivate var subject: AppleSubject { events[0].subject ?? "nobody" }
}

@Suite struct ReferenceStoreTests {
    @Test(arguments: ConformanceCheck.all)
    func `conforms`(check: ConformanceCheck) async throws {
        try await check.run(ReferenceStore())
    }

    @Test func `conforms without sealing`() async throws {
        try await ConformanceCheck.withoutSealing.run(ReferenceStore(sealing: NoAppleTokenSealing()))
    }
}
