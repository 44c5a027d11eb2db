import AppleAccounts
import StorageConformance
import Testing

@testable import PostgresStorage

/// Changes of the same rows by several replicas at the same time.
@Suite struct ReplicaRaceTests {
    @Test func `makes one account of a user whom all meet first`() async throws {
        try await Replicas.with(4) { replicas in
            for round in 0..<15 {
                let keys = (0..<20).map { SubjectKey.sample("p\(round)-\($0)") }
                let results = try await replicas.atOnce { number in
                    // Each in an order of its own, so that they would wait for each other if they locked so.
                    keys.shuffled().map {
                        .signIn(.sample(key: $0, authorizedAt: Moment(seconds: Int64(number))))
                    }
                }
                let outcomes = results.flatMap { $0 }.compactMap(\.signedIn)
                #expect(outcomes.count == 80)
                #expect(outcomes.count(where: \.isNewAccount) == 20)
                #expect(Set(outcomes.map(\.account.id)).count == 20)
            }
            let created = try await replicas.stores[0].allEvents().filter { $0.kind == .accountCreated }
            #expect(created.count == 15 * 20)
        }
    }

    @Test func `gives up a block of IDs that another has too`() async throws {
        try await Replicas.with(1) { replicas in
            try await replicas.stores[0].pool.run { session throws in
                let users = (0..<20).map { AccountCommand.signIn(.sample(key: .sample("p\($0)"))) }
                _ = try BatchCommitter(ids: SubjectIDs(), sealing: NoAppleTokenSealing()).commit(
                    users, in: session)
                // As when a standby takes over that has the rows and not what was counted after them.
                let forget = "SELECT setval('subject_block', last_value, false) FROM subject_block"
                _ = try session.run(PostgresCall(PostgresStatement("test_forget", forget)))
                let result = try BatchCommitter(ids: SubjectIDs(), sealing: NoAppleTokenSealing())
                    .commit([.signIn(.sample(key: .sample("late")))], in: session)
                #expect(result.results.compactMap(\.signedIn).count == 1)
            }
        }
    }

    @Test func `gives a name the number that it has where a standby took over`() async throws {
        try await Replicas.with(2) { replicas in
            let (store, other) = (replicas.stores[0], replicas.stores[1])
            try await store.signIn(.sample(key: .sample("first")))
            // A server that is lost takes its sessions with it. To end one is only to ask it, so they are
            // waited for: a session that is still there could be used once more, with the numbers that it
            // knows.
            let end = """
                SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """
            // As one that had not heard of the name, and has given its number to another since.
            let rename = "UPDATE app SET name = 'com.example.other' WHERE name = 'com.example.app'"
            try await other.pool.run { session in
                let ended = try session.run(PostgresCall(PostgresStatement("test_end", end)))
                #expect((0..<ended.count).allSatisfy { ended.boolean($0, 0) == true })
                _ = try session.run(PostgresCall(PostgresStatement("test_rename", rename)))
            }
            try await store.signIn(.sample(key: .sample("second")))
            let key = SubjectKey.sample("second")
            for (clientID, state) in [("com.example.app", .authorized), ("com.example.other", .notFound)]
                as [(ClientID, CredentialState)]
            {
                let found = try await other.credentials(
                    team: key.team, clientID: clientID, subjects: [key.subject])
                #expect(found.map(\.state) == [state])
            }
        }
    }

    @Test func `takes a nonce once`() async throws {
        try await Replicas.with(4) { replicas in
            for round in 0..<30 {
                let nonce = SignInNonce.sample(UInt8(round))
                let results = try await replicas.atOnce { number in
                    // Known and unknown users, which take different ways.
                    [.signIn(.sample(key: .sample("p\(number)-\(round / 2)"), nonce: nonce))]
                }
                let flat = results.flatMap { $0 }
                #expect(flat.count { $0.signedIn != nil } == 1)
                #expect(flat.count { $0 == .refused(AccountRefusal(.nonceUsed)) } == 3)
            }
        }
    }

    @Test func `takes a notification once`() async throws {
        try await Replicas.with(4) { replicas in
            for round in 0..<20 {
                let key = SubjectKey.sample("p\(round)")
                if round % 2 == 0 { try await replicas.stores[0].signIn(.sample(key: key)) }
                let results = try await replicas.atOnce { number in
                    // The same event, half of the time under another identifier.
                    [.notification(.sample(key: key, identifier: "n\(round)-\(number % 2)"))]
                }
                #expect(results.flatMap { $0 }.count { $0 == .done(.notification(.applied)) } == 1)
            }
            let revoked = try await replicas.stores[0].allEvents().filter { $0.kind == .credentialRevoked }
            #expect(revoked.count == 20)
        }
    }

    @Test func `gives a new app one number`() async throws {
        try await Replicas.with(4) { replicas in
            for round in 0..<10 {
                let results = try await replicas.atOnce { number in
                    let app = ClientID(stringLiteral: "com.example.new\(round)")
                    let team = TeamID(stringLiteral: "TEAM\(round)")
                    return [.signIn(.sample(key: .sample(team: team, "p\(number)"), clientID: app))]
                }
                #expect(results.flatMap { $0 }.count { $0.signedIn != nil } == 4)
            }
            let counts = try await replicas.stores[0].pool.run { session in
                try ["team", "app"].map { table in
                    let count = PostgresStatement("test_count_\(table)", "SELECT count(*) FROM \(table)")
                    return try session.run(PostgresCall(count)).integer(0, 0)
                }
            }
            #expect(counts == [10, 11])
        }
    }

    @Test func `loses nothing of what others do to a user's credentials at the same time`() async throws {
        try await Replicas.with(4) { replicas in
            let apps = (0..<3).map { ClientID(stringLiteral: "com.example.app\($0)") }
            for app in apps {
                try await replicas.stores[0].signIn(.sample(clientID: app, authorizedAt: 1000))
            }
            for round in 1...40 as ClosedRange<Int64> {
                let moment = Moment(seconds: round * 10)
                let relay = EmailAddress.sample("relay\(round)@example.com", isPrivate: true)
                _ = try await replicas.atOnce { number in
                    guard number < 3 else {
                        return [
                            .notification(
                                .sample(.emailForwarding(.enabled, relay), clientID: apps[0], at: moment))
                        ]
                    }
                    // They confirm an address that the notification has replaced, or is about to.
                    let earlier = EmailAddress.sample("relay\(round - 1)@example.com", isPrivate: true)
                    return [
                        .signIn(
                            .sample(
                                clientID: apps[number], authorizedAt: moment.advanced(byMilliseconds: -1),
                                email: earlier))
                    ]
                }
                let account = try #require(try await replicas.stores[1].account(.sample()))
                #expect(account.email == relay.address)
                #expect(
                    account.credentials.map(\.since)
                        == Array(repeating: moment.advanced(byMilliseconds: -1), count: 3))
            }
        }
    }

    @Test func `ends with the state and the feed that some order gives when sign-ins and revocations cross`()
        async throws
    {
        try await Replicas.with(4) { replicas in
            for round in 0..<30 {
                let key = SubjectKey.sample("p\(round)")
                try await replicas.stores[0].signIn(.sample(key: key, authorizedAt: 1000))
                _ = try await replicas.atOnce { number in
                    switch number {
                    case 0: [.notification(.sample(.appleAccountDeleted, key: key, at: 5000))]
                    case 1: [.notification(.sample(key: key, at: 3000))]
                    case 2: [.signIn(.sample(key: key, authorizedAt: 4000))]
                    default: [.signIn(.sample(key: key, authorizedAt: 6000))]
                    }
                }
                let account = try #require(try await replicas.stores[1].account(key))
                #expect(account.credentials.map(\.state) == [.authorized])
                let told = try await replicas.stores[2].allEvents().filter { $0.key == key }
                // A reader that follows the feed ends with the state of the database.
                let last = told.last { [.credentialAuthorized, .credentialRevoked].contains($0.kind) }
                #expect(last?.kind == .credentialAuthorized)
            }
        }
    }
}

extension Replicas {
    /// Gives each replica a batch at the same time.
    fileprivate func atOnce(
        _ commands: @escaping @Sendable (Int) -> [AccountCommand]
    ) async throws -> [[CommandResult]] {
        try await withThrowingTaskGroup(of: [CommandResult].self) { group in
            for (number, store) in stores.enumerated() {
                group.addTask { try await store.commit(commands(number)).results }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}

extension CommandResult {
    fileprivate var signedIn: SignInOutcome? {
        if case .done(.signedIn(let outcome)) = self { outcome } else { nil }
    }
}
