import AppleAccounts

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
    func checkHealth() async throws { throw error }
}
