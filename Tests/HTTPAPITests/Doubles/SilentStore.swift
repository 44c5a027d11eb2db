import AppleAccounts
import StorageConformance
import Synchronization

/// A store that does not come back, until it is opened.
final class SilentStore: AccountStore {
    private let reference = ReferenceStore()
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
        return try await reference.commit(commands)
    }
    func account(_ id: AccountID) async throws -> Account? { try await reference.account(id) }
    func account(_ key: SubjectKey) async throws -> Account? { try await reference.account(key) }
    func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [Credential] {
        try await reference.credentials(team: team, clientID: clientID, subjects: subjects)
    }
    func events(
        after sequence: Int64, limit: Int, visibleTo visibility: EventVisibility
    ) async throws -> EventPage {
        try await reference.events(after: sequence, limit: limit, visibleTo: visibility)
    }
    func purgeNonces(expiredBefore moment: Moment) async throws -> Int { 0 }
    func checkHealth() async throws { await pass() }
}
