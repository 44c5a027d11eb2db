public import AppleAccounts

/// A double in front of a real store: calls that it does not change go to the real store.
public protocol RelayingStore: AccountStore {
    var behind: any AccountStore { get }
}

extension RelayingStore {
    public func account(_ id: AccountID) async throws -> Account? { try await behind.account(id) }

    public func account(_ key: SubjectKey) async throws -> Account? { try await behind.account(key) }

    public func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [Credential] {
        try await behind.credentials(team: team, clientID: clientID, subjects: subjects)
    }

    public func events(
        after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        try await behind.events(after: sequence, limit: limit, visibleTo: scope)
    }

    public func lastEventSequence() async throws -> Int64 { try await behind.lastEventSequence() }

    public func accountsDisabled(until moment: Moment, limit: Int) async throws -> [DisabledAccount] {
        try await behind.accountsDisabled(until: moment, limit: limit)
    }

    public func purgeNonces(expiredBefore moment: Moment) async throws -> Int {
        try await behind.purgeNonces(expiredBefore: moment)
    }

    public func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) async throws -> AccountPage {
        try await behind.accounts(search, after: position, limit: limit, at: moment)
    }

    public func events(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        try await behind.events(of: id, after: sequence, limit: limit, visibleTo: scope)
    }

    public func lastEvents(of id: AccountID, limit: Int, visibleTo scope: AppScope) async throws
        -> [AccountEvent]
    {
        try await behind.lastEvents(of: id, limit: limit, visibleTo: scope)
    }

    public func history(of id: AccountID, limit: Int) async throws -> [HistoryEntry] {
        try await behind.history(of: id, limit: limit)
    }

    public func nextChecks(of id: AccountID) async throws -> [ClientID: PlannedCheck] {
        try await behind.nextChecks(of: id)
    }

    public func payloads(about key: SubjectKey, for clientIDs: Set<ClientID>, limit: Int) async throws
        -> [KeptPayload]
    {
        try await behind.payloads(about: key, for: clientIDs, limit: limit)
    }

    public func purgeHistory(before moment: Moment) async throws -> Int {
        try await behind.purgeHistory(before: moment)
    }

    public func checkHealth() async throws { try await behind.checkHealth() }
}
