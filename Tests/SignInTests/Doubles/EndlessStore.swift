import AppleAccounts

/// A store whose feed never ends and never has anything for the reader.
struct EndlessStore: AccountStore {
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
        EventPage(events: [], cursor: sequence + 1, hasMore: true)
    }

    func purgeNonces(expiredBefore moment: Moment) async throws -> Int { 0 }

    func checkHealth() async throws {}
}
