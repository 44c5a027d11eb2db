import AppleAccounts
import StorageConformance
import Synchronization
import TestSupport
import Testing

@testable import PostgresStorage

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
