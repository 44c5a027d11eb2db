import AppleAccounts
import AuthorizationServer
import JOSE
import KeySets
import StorageConformance
import Synchronization

/// A store whose database is unavailable.
struct FailingStore: AccountStore {
    let error: any Error

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult { throw error }
    func account(_ id: AccountID) async throws -> Account? { throw error }
    func account(_ key: SubjectKey) async throws -> Account? { throw error }
    func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [Credential] { throw error }
    func events(
        after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage { throw error }
    func lastEventSequence() async throws -> Int64 { throw error }
    func accountsDisabled(until moment: Moment, limit: Int) async throws -> [DisabledAccount] { throw error }
    func purgeNonces(expiredBefore moment: Moment) async throws -> Int { throw error }
    func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) async throws -> AccountPage { throw error }
    func events(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage { throw error }
    func lastEvents(of id: AccountID, limit: Int, visibleTo scope: AppScope) async throws -> [AccountEvent] {
        throw error
    }
    func history(of id: AccountID, limit: Int) async throws -> [HistoryEntry] { throw error }
    func nextChecks(of id: AccountID) async throws -> [ClientID: PlannedCheck] { throw error }
    func payloads(about key: SubjectKey, for clientIDs: Set<ClientID>, limit: Int) async throws
        -> [KeptPayload]
    { throw error }
    func purgeHistory(before moment: Moment) async throws -> Int { throw error }
    func checkHealth() async throws { throw error }
}

/// A store whose calls do not return until it is opened.
final class SilentStore: RelayingStore {
    let behind: any AccountStore = ReferenceStore()
    private let waiting = Mutex<[CheckedContinuation<Void, Never>]?>([])

    func open() {
        let waiting = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting ?? []
        }
        for continuation in waiting { continuation.resume() }
    }

    private func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = waiting.withLock { waiting in
                waiting?.append(continuation)
                return waiting == nil
            }
            if isOpen { continuation.resume() }
        }
    }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        await pass()
        return try await behind.commit(commands)
    }

    func checkHealth() async throws { await pass() }
}

/// A store that records the number of commands of each commit.
final class CountingStore: RelayingStore {
    let behind: any AccountStore = ReferenceStore()
    private let sizes = Mutex<[Int]>([])

    var batchSizes: [Int] { sizes.withLock { $0 } }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        sizes.withLock { $0.append(commands.count) }
        return try await behind.commit(commands)
    }
}

/// A store that does not return the status of an account until it is opened. All other calls return at once.
final class SilentStatuses: RelayingStore, RelayingAuthorizationStore {
    let behind: any AccountStore
    let grantsBehind: any AuthorizationStore
    private let (silence, ending) = AsyncStream.makeStream(of: Never.self)

    init() {
        let store = ReferenceStore()
        (behind, grantsBehind) = (store, store)
    }

    func open() { ending.finish() }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        try await behind.commit(commands)
    }

    func status(of account: AccountID, app: ClientID) async throws -> AccountStatus? {
        for await _ in silence {}
        return try await grantsBehind.status(of: account, app: app)
    }
}

/// A key set that has every key only after a fetch.
struct FetchedKeys: VerificationKeys {
    private let keys: PinnedKeySet

    init(_ keys: PinnedKeySet) { self.keys = keys }

    func cachedKey(for keyID: String) -> RSAPublicKey? { nil }
    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
        await Task.yield()
        return try await keys.key(for: keyID)
    }
    var health: KeySetHealth { keys.health }
}

/// A key set that lets its callers wait and then has no key.
struct LateKeys: VerificationKeys {
    let delay: Duration

    func cachedKey(for keyID: String) -> RSAPublicKey? { nil }
    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
        try? await Task.sleep(for: delay)
        throw KeySetError(.keysUnavailable)
    }
    var health: KeySetHealth { KeySetHealth(status: .unavailable(.timedOut), keyCount: 0) }
}

/// A key set that could not be fetched.
struct NoKeys: VerificationKeys {
    func cachedKey(for keyID: String) -> RSAPublicKey? { nil }
    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
        throw KeySetError(.keysUnavailable)
    }
    var health: KeySetHealth { KeySetHealth(status: .unavailable(.unreachable), keyCount: 0) }
}
