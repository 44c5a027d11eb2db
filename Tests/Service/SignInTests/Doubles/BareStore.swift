import AppleAccounts
import Synchronization

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
