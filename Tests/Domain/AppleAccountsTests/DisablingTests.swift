import AppleAccounts
import StorageConformance
import TestSupport
import Testing

/// The rules of disabling, enabling and signing out, on one user's record.
@Suite struct DisablingTests {
    private static let user = SubjectKey.sample()
    private static let id = AccountID(.sample(1))

    private var record: SubjectRecord {
        var record = SubjectRecord(key: Self.user, isStored: true)
        record.accountID = Self.id
        record.createdAt = 1000
        record.credentials = [AppCredential(clientID: "com.example.app")]
        return record
    }

    /// Applies the commands in one batch. Returns the results, the record and the kinds of the events.
    private func apply(_ commands: [AccountCommand], to record: SubjectRecord) -> WorkingSet {
        var generator = SystemRandomNumberGenerator()
        var set = WorkingSet(commands)
        set.load(record, at: 0)
        _ = set.applyCommands(using: &generator)
        return set
    }

    private func refusal(_ command: AccountCommand, of record: SubjectRecord) -> AccountRefusal.Code? {
        var generator = SystemRandomNumberGenerator()
        var set = WorkingSet([command])
        set.load(record, at: 0)
        guard case .refused(let refusal) = set.applyCommands(using: &generator)[0] else { return nil }
        return refusal.code
    }

    private func disable(
        _ reason: Disabling.Reason = .abuse, until: Moment = .last, at moment: Moment = 2000,
        scope: AppScope = .all
    ) -> AccountCommand {
        .disable(
            DisableCommand(
                key: Self.user, accountID: Self.id, reason: reason, until: until, scope: scope, moment: moment
            ))
    }

    private func enable(onlyIfOver: Bool = false, at moment: Moment) -> AccountCommand {
        .enable(
            EnableCommand(
                key: Self.user, accountID: Self.id, onlyIfOver: onlyIfOver, scope: .all, moment: moment))
    }

    @Test func `a repetition changes nothing, and other values replace the old ones without an event`() {
        let once = apply([disable()], to: record)
        #expect(once.events.map(\.kind) == [.accountDisabled])
        #expect(once.subjects[0].disabling == Disabling(since: 2000, until: .last, reason: .abuse))
        let stored = once.subjects[0].saved ?? record
        let again = apply([disable(at: 3000)], to: stored)
        #expect(again.events.isEmpty && again.subjects[0].rowChange == .none)
        let other = apply([disable(.fraud, until: 9000, at: 3000)], to: stored)
        #expect(other.events.isEmpty)
        #expect(other.subjects[0].disabling == Disabling(since: 2000, until: 9000, reason: .fraud))
    }

    @Test func `enabling an account that is enabled does nothing`() {
        let set = apply([enable(at: 2000)], to: record)
        #expect(set.events.isEmpty && set.subjects[0].rowChange == .none)
        let both = apply([disable(), enable(at: 3000), enable(at: 4000)], to: record)
        #expect(both.events.map(\.kind) == [.accountDisabled, .accountEnabled])
        #expect(both.subjects[0].disabling == nil)
    }

    @Test func `a disabled user is refused up to the end, and signs in from it on`() {
        let stored = apply([disable(until: 5000)], to: record).subjects[0]
        func signIn(at moment: Moment) -> AccountCommand {
            .signIn(.sample(authorizedAt: 4000, receivedAt: moment))
        }
        #expect(refusal(signIn(at: 4999), of: stored) == .accountDisabled)
        #expect(refusal(signIn(at: 5000), of: stored) == nil)
        let later = apply([signIn(at: 6000)], to: stored)
        // The event has the moment of the end, not of the sign-in.
        let enabled = later.events.first { $0.kind == .accountEnabled }
        #expect(enabled?.moment == 5000 && enabled?.recordedAt == 6000)
        #expect(later.subjects[0].disabling == nil)
    }

    @Test func `a refused sign-in leaves no trace, and does not use its nonce up`() {
        let stored = apply([disable()], to: record).subjects[0].saved ?? record
        let set = apply(
            [.signIn(.sample(authorizedAt: 4000, nonce: .sample(), receivedAt: 4000))], to: stored)
        #expect(set.usedNonces.isEmpty && set.events.isEmpty)
        #expect(set.subjects[0] == stored)
    }

    @Test func `a token from before a revocation says nothing about the account`() {
        var revoked = apply([disable()], to: record).subjects[0]
        revoked.credentials[0].record.merge(
            Revocation(moment: 5000, reason: .consentRevoked, source: .notification))
        let old = AccountCommand.signIn(.sample(authorizedAt: 4000, receivedAt: 6000))
        #expect(refusal(old, of: revoked) == .credentialRevoked)
    }

    @Test func `the sweep ends only what is over`() {
        let stored = apply([disable(until: 5000)], to: record).subjects[0]
        #expect(apply([enable(onlyIfOver: true, at: 4999)], to: stored).subjects[0].disabling != nil)
        let swept = apply([enable(onlyIfOver: true, at: 7000)], to: stored)
        #expect(swept.subjects[0].disabling == nil)
        #expect(swept.events.last?.kind == .accountEnabled && swept.events.last?.moment == 5000)
    }

    @Test func `a disabling after one that is over begins anew`() {
        let stored = apply([disable(until: 5000)], to: record).subjects[0].saved ?? record
        let set = apply([disable(.legal, at: 6000)], to: stored)
        #expect(set.events.map(\.kind) == [.accountEnabled, .accountDisabled])
        #expect(set.subjects[0].disabling == Disabling(since: 6000, until: .last, reason: .legal))
    }

    @Test(
        arguments: [
            (.only(["com.example.other"]), .accountNotFound), (.only([]), .accountNotFound),
            (.only(["com.example.app"]), nil), (.all, nil),
        ] as [(AppScope, AccountRefusal.Code?)])
    func `a caller must be allowed all apps of the account`(scope: AppScope, code: AccountRefusal.Code?) {
        #expect(refusal(disable(scope: scope), of: record) == code)
        var wide = record
        wide.credentials.append(AppCredential(clientID: "com.example.second"))
        let isLimited = scope != .all
        #expect(refusal(disable(scope: scope), of: wide) == (isLimited ? code ?? .callerForbidden : nil))
    }

    @Test func `a sign-out tells of the sessions last, and its time never goes back`() {
        func signOut(at moment: Moment) -> AccountCommand {
            .signOut(SignOutCommand(key: Self.user, accountID: Self.id, scope: .all, moment: moment))
        }
        let set = apply([signOut(at: 5000), signOut(at: 4000)], to: record)
        #expect(set.subjects[0].sessionsEndedAt == 5000)
        #expect(set.events.map(\.kind) == [.sessionsEnded, .sessionsEnded])
        #expect(set.credentialEnds.map(\.eventIndex) == [0, 1])
        #expect(set.credentialEnds.allSatisfy { $0.ends("com.example.app", authorizedAt: .last) })
    }

    @Test func `a reader sees a disabling until its end`() throws {
        let account = try #require(apply([disable(until: 5000)], to: record).subjects[0].account)
        #expect(account.isDisabled(at: 4999) && !account.isDisabled(at: 5000))
        #expect(account.current(at: 4999) == account)
        #expect(account.current(at: 5000).disabling == nil)
        #expect(account.current(at: 5000).credentials.map(\.disabledUntil) == [nil])
        #expect(account.credentials.map(\.disabledUntil) == [5000])
    }
}

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
    @Test(arguments: ConformanceCheck.all) func `conforms`(check: ConformanceCheck) async throws {
        try await check.run(ReferenceStore())
    }

    @Test func `conforms without sealing`() async throws {
        try await ConformanceCheck.withoutSealing.run(ReferenceStore(sealing: NoAppleTokenSealing()))
    }
}
