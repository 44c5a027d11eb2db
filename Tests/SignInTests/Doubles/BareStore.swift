import AppleAccounts
import Synchronization

/// A store with nothing in it, which counts how often its feed is read.
final class BareStore: AccountStore {
    private let reads = Mutex(0)

    var readCount: Int { reads.withLock { $0 } }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        CommitResult(results: [], lastEventSequence: nil)
    }

    func account(_ id: AccountID) async throws -> Account? { nil }

    func account(_ key: SubjectKey) async throws -> Account? { nil }

    func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [Credential] { [] }

    func events(
        after sequence: Int64, limit: Int, visibleTo visibility: EventVisibility
    ) async throws -> EventPage {
        reads.withLock { $0 += 1 }
        return EventPage(events: [], cursor: sequence, hasMore: false)
    }

    func purgeNonces(expiredBefore moment: Moment) async throws -> Int { 0 }

    func checkHealth() async throws {}
}
