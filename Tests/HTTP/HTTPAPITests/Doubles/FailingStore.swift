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
