public import AppleAccounts
import AuthorizationServer
import Synchronization

extension ReferenceStore {
    public func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) async throws -> AccountPage {
        state.withLock { state in
            let countsRows = SearchPath(search).countsRows
            let all = state.subjects.values.compactMap { record in record.accountID.map { ($0, record) } }
                .sorted { $1.0.uniqueID < $0.0.uniqueID }
            // Rows are numbered by age.
            let placed = all.enumerated().map { offset, found in
                let place: SearchPosition =
                    countsRows ? .row(Int64(all.count - offset)) : .account(found.0)
                return (position: place, record: found.1)
            }
            let rest = placed.filter { found in position.map { $0.isBefore(found.position) } ?? true }
                .filter { state.has(search.key, $0.record, in: search.scope) }
            var scan = SearchScan(search, limit: limit, at: moment)
            var looked = 0
            for found in rest.prefix(AccountSearch.longestScan) where !scan.isFull {
                looked += 1
                scan.look(at: found.record, found.position) { id in
                    state.oauth.grants.values.filter { $0.accountID == id }.map(\.clientID)
                }
            }
            return scan.page(hasMore: looked < rest.count)
        }
    }

    public func events(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        state.withLock { state in
            let all = state.events(of: id, visibleTo: scope).filter { $0.sequence > sequence }
            let page = Array(all.prefix(limit))
            return EventPage(
                events: page, cursor: page.last?.sequence ?? sequence, hasMore: all.count > page.count)
        }
    }

    public func lastEvents(of id: AccountID, limit: Int, visibleTo scope: AppScope) async throws
        -> [AccountEvent]
    {
        state.withLock { Array($0.events(of: id, visibleTo: scope).reversed().prefix(limit)) }
    }

    public func history(of id: AccountID, limit: Int) async throws -> [HistoryEntry] {
        state.withLock { Array(($0.histories[id] ?? []).reversed().prefix(limit)) }
    }

    public func nextChecks(of id: AccountID) async throws -> [ClientID: PlannedCheck] {
        state.withLock { state in
            Dictionary(
                state.tokens.filter { $0.accountID == id }.map {
                    (
                        $0.primaryClientID,
                        PlannedCheck(next: $0.nextCheckAt, uncheckedSince: $0.uncheckedSince)
                    )
                }, uniquingKeysWith: { $0.merged(with: $1) })
        }
    }

    public func payloads(about key: SubjectKey, for clientIDs: Set<ClientID>, limit: Int) async throws
        -> [KeptPayload]
    {
        state.withLock { state in
            let found = zip(state.payloads, state.payloadSubjects)
                .filter { $1 == key.subject && clientIDs.contains($0.clientID) }.map(\.0)
            return Array(found.sorted { $0.moment > $1.moment }.prefix(limit))
        }
    }

    public func purgeHistory(before moment: Moment) async throws -> Int {
        state.withLock { state in
            let before = state.histories.values.map(\.count).reduce(0, +)
            state.histories = state.histories.mapValues { $0.filter { $0.recordedAt >= moment } }
            return before - state.histories.values.map(\.count).reduce(0, +)
        }
    }
}

extension SearchPosition {
    /// Returns true if another position of the same kind comes after this position.
    fileprivate func isBefore(_ other: SearchPosition) -> Bool {
        switch (self, other) {
        case (.account(let id), .account(let other)): other.uniqueID < id.uniqueID
        case (.row(let number), .row(let other)): other < number
        case (.account, .row), (.row, .account): preconditionFailure("positions of two kinds of searches")
        }
    }
}

extension ReferenceState {
    mutating func keepPayload(of key: InboxKey, _ kept: KeptNotification) {
        payloads.append(
            KeptPayload(
                clientID: key.clientID, type: key.type, moment: key.moment,
                receivedAt: kept.command.receivedAt, payload: kept.payload))
        payloadSubjects.append(key.subject)
    }

    mutating func forgetPayloads(about subject: AppleSubject) {
        let left = zip(payloads, payloadSubjects).filter { $1 != subject }
        (payloads, payloadSubjects) = (left.map(\.0), left.map(\.1))
    }

    fileprivate func events(of id: AccountID, visibleTo scope: AppScope) -> [AccountEvent] {
        events.enumerated().filter { $1.accountID == id && mayTell($1, to: scope) }
            .map { $1.numbered(Int64($0) + 1) }
    }

    fileprivate func has(_ key: AccountSearch.Key?, _ record: SubjectRecord, in scope: AppScope) -> Bool {
        switch key {
        case .email(let text):
            [record.email?.value.address, record.unsignedEmail].compactMap { $0 }
                .contains { SearchText.folded($0) == SearchText.folded(text) }
        case .account(let id): record.accountID == id
        case .subject(let subject): record.key.subject == subject
        case .grant(let id):
            oauth.grants[id].map { $0.accountID == record.accountID && scope.allows($0.clientID) } ?? false
        case .name, nil: true
        }
    }
}
