import AppleAccounts
import AppleIDClient
import StorageConformance
import Synchronization

/// Simulated power of a process. It fails between two steps that the test chooses; afterwards the process has
/// no effect.
final class Fuse: Sendable {
    struct Blown: Error {}

    private struct State {
        var crossed: [String] = []
        var holds: Int
        var outage = 0
    }

    private let state: Mutex<State>

    /// - Parameter holds: Number of points before the power fails; unlimited by default.
    init(holds: Int = .max) {
        state = Mutex(State(holds: holds))
    }

    /// The passed points, in order: before and after each step outside of the process.
    var crossed: [String] { state.withLock { $0.crossed } }

    /// Makes this many next steps fail; then the power returns.
    func flicker(_ steps: Int) {
        state.withLock { $0.outage = steps }
    }

    func step<Result>(_ name: String, _ work: () async throws -> Result) async throws -> Result {
        try flickered()
        try cross("before \(name)")
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await work())
        } catch {
            // A failure is a response too, and can get lost as well.
            result = .failure(error)
        }
        try cross("after \(name)")
        return try result.get()
    }

    private func flickered() throws {
        try state.withLock { state in
            guard state.outage > 0 else { return }
            state.outage -= 1
            throw Blown()
        }
    }

    private func cross(_ point: String) throws {
        try state.withLock { state in
            guard state.crossed.count < state.holds else { throw Blown() }
            state.crossed.append(point)
        }
    }
}

/// Apple, as reached from a process with a fuse.
struct FusedApple: AppleTokenService {
    let apple: any AppleTokenService
    let fuse: Fuse

    func exchange(
        code: String, clientID: String, redirectURI: String?
    ) async throws(AppleCallError) -> AppleTokenResponse {
        try await step("exchange") {
            try await apple.exchange(code: code, clientID: clientID, redirectURI: redirectURI)
        }
    }

    func validate(refreshToken: String, clientID: String) async throws(AppleCallError) -> AppleTokenResponse {
        try await step("validate") {
            try await apple.validate(refreshToken: refreshToken, clientID: clientID)
        }
    }

    func revoke(refreshToken: String, clientID: String) async throws(AppleCallError) {
        try await step("revoke") { try await apple.revoke(refreshToken: refreshToken, clientID: clientID) }
    }

    private func step<Result>(
        _ name: String, _ work: () async throws -> Result
    ) async throws(AppleCallError) -> Result {
        do {
            return try await fuse.step(name, work)
        } catch {
            // Which error a process without power gets does not matter: no caller reads it.
            throw error as? AppleCallError ?? AppleCallError(.connectionLost)
        }
    }
}

/// A store, as reached from a process with a fuse: nothing is done after the power fails.
struct FusedStore: RelayingStore, AppleTokenStore {
    let store: any AccountStore & AppleTokenStore
    let fuse: Fuse

    var behind: any AccountStore { store }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        try await fuse.step("commit") { try await store.commit(commands) }
    }

    func claimCodes(limit: Int, at moment: Moment, leaseUntil: Moment) async throws -> [ClaimedCode] {
        try await fuse.step("claim codes") {
            try await store.claimCodes(limit: limit, at: moment, leaseUntil: leaseUntil)
        }
    }

    func releaseCode(_ id: UniqueID, until moment: Moment) async throws {
        try await fuse.step("release code") { try await store.releaseCode(id, until: moment) }
    }

    func claimChecks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64,
        except resting: Set<ClientID>
    ) async throws -> [ClaimedCheck] {
        try await fuse.step("claim checks") {
            try await store.claimChecks(
                limit: limit, at: moment, nextAfter: nextAfter, jitterMilliseconds: jitterMilliseconds,
                except: resting)
        }
    }

    func nextCheckDue(except resting: Set<ClientID>) async throws -> Moment? {
        try await store.nextCheckDue(except: resting)
    }

    func releaseCheck(_ check: ClaimedCheck, until moment: Moment?) async throws {
        try await fuse.step("release check") { try await store.releaseCheck(check, until: moment) }
    }

    func claimErasureTokens(
        limit: Int, at moment: Moment, leaseUntil: Moment, of id: ErasureID?
    ) async throws -> [ClaimedErasureToken] {
        try await fuse.step("claim tokens") {
            try await store.claimErasureTokens(limit: limit, at: moment, leaseUntil: leaseUntil, of: id)
        }
    }

    func save(_ token: ErasureToken, of id: ErasureID, at moment: Moment) async throws {
        try await fuse.step("save token") { try await store.save(token, of: id, at: moment) }
    }

    func adoptErasureToken(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment
    ) async throws -> Bool {
        try await fuse.step("adopt token") {
            try await store.adoptErasureToken(codeID: codeID, tokenID: tokenID, sealed: sealed, at: moment)
        }
    }

    // Reading leaves nothing behind that a cut could tear.

    func earliestErasureDeadline() async throws -> Moment? { try await store.earliestErasureDeadline() }

    func nextDue() async throws -> AppleTokensDue { try await store.nextDue() }

    func backlog(at moment: Moment) async throws -> AppleTokensBacklog { try await store.backlog(at: moment) }

    func erasure(_ id: ErasureID) async throws -> ErasureRecord? { try await store.erasure(id) }

    func erasure(of id: AccountID) async throws -> ErasureRecord? { try await store.erasure(of: id) }

    func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow] {
        try await store.sealedSecrets(after: cursor, limit: limit)
    }

    func replaceSealed(_ changes: [SealedChange]) async throws -> Int {
        try await store.replaceSealed(changes)
    }

    func sealedCount() async throws -> Int { try await store.sealedCount() }
}

/// An empty store that counts the reads of its feed. An endless feed always has further events, but no event
/// for the reader.
final class BareStore: AccountStore {
    private let isEndless: Bool
    private let reads = Mutex(0)

    init(isEndless: Bool = false) {
        self.isEndless = isEndless
    }

    var readCount: Int { reads.withLock { $0 } }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        CommitResult(results: [], lastEventSequence: nil)
    }

    func account(_ id: AccountID) async throws -> Account? { nil }

    func account(_ key: SubjectKey) async throws -> Account? { nil }

    func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) async throws -> AccountPage { AccountPage(accounts: [], next: nil) }

    func events(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage { EventPage(events: [], cursor: sequence, hasMore: false) }

    func lastEvents(of id: AccountID, limit: Int, visibleTo scope: AppScope) async throws -> [AccountEvent] {
        []
    }

    func history(of id: AccountID, limit: Int) async throws -> [HistoryEntry] { [] }

    func nextChecks(of id: AccountID) async throws -> [ClientID: PlannedCheck] { [:] }

    func payloads(about key: SubjectKey, for clientIDs: Set<ClientID>, limit: Int) async throws
        -> [KeptPayload]
    { [] }

    func purgeHistory(before moment: Moment) async throws -> Int { 0 }

    func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [Credential] { [] }

    func events(
        after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        reads.withLock { $0 += 1 }
        return EventPage(events: [], cursor: isEndless ? sequence + 1 : sequence, hasMore: isEndless)
    }

    /// Sequence number after every cursor.
    func lastEventSequence() async throws -> Int64 { .max }

    func accountsDisabled(until moment: Moment, limit: Int) async throws -> [DisabledAccount] { [] }

    func purgeNonces(expiredBefore moment: Moment) async throws -> Int { 0 }

    func checkHealth() async throws {}
}

/// A store in which an event happens just before a batch is committed, after the callers of its commands have
/// read.
final class MeddlingStore: RelayingStore {
    typealias Event = @Sendable (any AccountStore) async throws -> Void

    let behind: any AccountStore
    private let next: Mutex<[Event]>

    /// - Parameter events: Events, each before one of the first batches with an erasure.
    init(_ behind: any AccountStore, before events: [Event]) {
        self.behind = behind
        next = Mutex(events)
    }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        let isErasure = commands.contains { if case .erase = $0 { true } else { false } }
        let event = next.withLock { isErasure && !$0.isEmpty ? $0.removeFirst() : nil }
        try await event?(behind)
        return try await behind.commit(commands)
    }
}
