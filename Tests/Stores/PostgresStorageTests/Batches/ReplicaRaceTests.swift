import AppleAccounts
import StorageConformance
import Synchronization
import TestSupport
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

/// Commands of several replicas at the same time about a user whose row does not exist yet, or was removed.
/// Other sessions hold locks, so that the order is always the intended order.
@Suite struct UnknownUserRaceTests {
    private static let user = SubjectKey.sample("person")
    /// User whose row is locked before the other user's, because batches lock in the order of names.
    private static let anchor = SubjectKey.sample("anchor")

    /// Command of another replica that has looked for the user's row and found none.
    enum Latecomer: CaseIterable, CustomTestStringConvertible {
        case oldToken, oldRevocation, oldDeletion

        var command: AccountCommand {
            switch self {
            case .oldToken: .signIn(.sample(key: user, authorizedAt: 1000))
            case .oldRevocation: .notification(.sample(key: user, at: 500))
            case .oldDeletion: .notification(.sample(.appleAccountDeleted, key: user, at: 500))
            }
        }

        var testDescription: String { "\(self)" }
    }

    @Test(arguments: Latecomer.allCases)
    func `lets nothing that was begun before the first sign-in hide an erasure`(
        latecomer: Latecomer
    ) async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            try await here.signIn(.sample(key: Self.anchor, authorizedAt: 1000))
            let rows = try LockHolder(
                replicas.url, "SELECT FROM subject WHERE sub = '\(Self.anchor.subject.rawValue)' FOR UPDATE")
            let credentials = try LockHolder(replicas.url, "SELECT FROM credential FOR UPDATE")

            // It has looked for the user's row, and waits for the anchor's.
            async let late = there.commit([
                .signIn(.sample(key: Self.anchor, authorizedAt: 2000)), latecomer.command,
            ])
            try await eventually { try rows.waiters == 1 }
            // The user comes, unless the other replica keeps them from it.
            let erasing = Erasing(Self.user, at: here)
            try await eventually { try erasing.isSignedIn || rows.allWaiters == 2 }
            try rows.release()
            // Now it has looked for what an erasure has left.
            try await eventually { try credentials.waiters == 1 }
            if erasing.isSignedIn { try await erasing.finish() }
            try credentials.release()
            _ = try await late
            try await erasing.finish()
            try await Self.expectErased(in: replicas)
        }
    }

    @Test func `lets no transfer that was begun before the first sign-in hide an erasure`() async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            let moving = try await here.signIn(
                .sample(key: .sample(team: "OTHERTEAM1", "moving"), clientID: "com.example.app")
            ).account
            let rows = try LockHolder(replicas.url, "SELECT FROM subject FOR UPDATE")
            async let receipt = there.transfer(
                TransferCommand(
                    accountID: moving.id, from: SubjectKey(team: moving.team, subject: moving.subject),
                    to: Self.user, clientID: "com.example.app", email: nil, createdAt: 1, receivedAt: 4000))
            try await eventually { try rows.waiters == 1 }
            let erasing = Erasing(Self.user, at: here)
            try await eventually { try erasing.isSignedIn || rows.allWaiters == 2 }
            if erasing.isSignedIn { try await erasing.finish() }
            try rows.release()
            #expect(try await receipt == .moved)
            try await erasing.finish()
            try await Self.expectErased(in: replicas)
        }
    }

    @Test func `loses no revocation of an erased user who is just coming back`() async throws {
        try await Replicas.with { replicas in
            let (here, there) = (replicas.stores[0], replicas.stores[1])
            let account = try await here.signIn(.sample(key: Self.user, authorizedAt: 1000)).account
            try await here.erase(.sample(account: account, at: 5000))
            let counter = try LockHolder(replicas.url, "SELECT FROM event_counter FOR UPDATE")
            // Everything is written, and nothing committed.
            async let back = here.signIn(.sample(key: Self.user, authorizedAt: 6000))
            try await eventually { try counter.waiters == 1 }
            async let receipt = there.notify(.sample(key: Self.user, at: 7000))
            try await eventually { try counter.allWaiters == 2 }
            try counter.release()
            #expect(try await back.isNewAccount)
            #expect(try await receipt == .applied)
            let credential = try await here.credential(Self.user)
            #expect(credential.state == .revoked)
            #expect(credential.since == 7000)
        }
    }

    /// The server has room for some 6,400 locks in total.
    @Test func `takes at most 1,024 locks for names, however many new users come at once`() async throws {
        try await Replicas.with(1) { replicas in
            let store = replicas.stores[0]
            try await store.signIn(.sample(key: Self.anchor))
            let counter = try LockHolder(replicas.url, "SELECT FROM event_counter FOR UPDATE")
            async let result = store.commit(
                (0..<4000).map { .signIn(.sample(key: .sample("user-\($0)"))) })
            try await eventually { try counter.waiters == 1 }
            let locks = try counter.namesLocked
            #expect((900...1024).contains(locks), "\(locks) locks")
            try counter.release()
            #expect(try await result.results.count == 4000)
        }
    }

    /// Checks, for either order, that no token from before the erasure is accepted.
    private static func expectErased(in replicas: Replicas) async throws {
        let store = replicas.stores[0]
        #expect(try await store.account(user) == nil)
        #expect(try await store.credential(user).reason == .erased)
        await #expect(throws: AccountRefusal(.credentialRevoked)) {
            try await store.signIn(.sample(key: user, authorizedAt: 3000))
        }
    }
}

/// A first sign-in, and the erasure of its account.
private final class Erasing: Sendable {
    private let store: PostgresAccountStore
    private let account: Task<Account, any Error>
    private let signedIn = Mutex(false)
    private let isErased = Mutex(false)

    init(_ key: SubjectKey, at store: PostgresAccountStore) {
        self.store = store
        let done = AsyncStream<Void>.makeStream()
        account = Task {
            defer { done.continuation.finish() }
            return try await store.signIn(.sample(key: key, authorizedAt: 3000)).account
        }
        Task {
            for await _ in done.stream {}
            self.signedIn.withLock { $0 = true }
        }
    }

    var isSignedIn: Bool { signedIn.withLock { $0 } }

    /// Finishes the erasure. Does nothing the second time.
    func finish() async throws {
        let account = try await account.value
        let isFirst = isErased.withLock { isErased in
            defer { isErased = true }
            return !isErased
        }
        if isFirst { try await store.erase(.sample(account: account, at: 9000)) }
    }
}
