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

extension ReferenceStore: AuditStore {
    public func appendAudit(_ entries: [AuditEntry]) async throws {
        state.withLock { state in
            state.append(
                entries.map { entry in
                    guard let person = entry.person, state.record(of: person.account) == nil else {
                        return entry
                    }
                    return entry.withoutPerson
                })
        }
    }

    public func auditChain() async throws -> AuditChain {
        state.withLock { AuditChain(anchor: $0.auditAnchor, head: $0.auditHead) }
    }

    public func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow] {
        state.withLock { Array($0.audit.filter { $0.sequence > sequence }.prefix(limit)) }
    }

    public func auditRows(
        before sequence: Int64, of account: AccountID?, limit: Int
    ) async throws -> [AuditRow] {
        state.withLock { state in
            let rows = state.audit.reversed().filter {
                $0.sequence < sequence && (account == nil || $0.entry.person?.account == account)
            }
            return Array(rows.prefix(limit))
        }
    }

    public func auditSequence(at moment: Moment) async throws -> Int64 {
        state.withLock { state in
            state.audit.filter { $0.facts.moment <= moment }
                .max { ($0.facts.moment, $0.sequence) < ($1.facts.moment, $1.sequence) }?.sequence ?? 0
        }
    }

    public func purgeAudit(before end: Moment, at now: Moment) async throws -> Int {
        state.withLock { state in
            let oldOrFuture = state.audit.prefix { $0.facts.moment < end || $0.facts.moment > now }
            guard let last = oldOrFuture.lastIndex(where: { $0.facts.moment < end }) else { return 0 }
            let old = oldOrFuture[...last].prefix(AuditPurge.largestStep)
            guard let anchor = old.last?.link else { return 0 }
            state.audit.removeFirst(old.count)
            state.auditAnchor = anchor
            state.append([AuditPurge.entry(upTo: anchor, at: now)])
            return old.count
        }
    }

    public func noteConfiguration(
        _ fingerprints: [String: String], at moment: Moment
    ) async throws -> [ConfigurationChange] {
        state.withLock { state in
            let changes = ConfigurationChange.between(state.fingerprints, fingerprints)
            state.fingerprints = fingerprints
            for change in changes {
                state.fingerprintsSeenAt[change.item] = change.after == nil ? nil : moment
            }
            state.append(changes.map { $0.entry(at: moment) })
            return changes
        }
    }

    public func configurationParts() async throws -> [SeenConfigurationPart] {
        state.withLock { state in
            state.fingerprints.compactMap { item, fingerprint in
                state.fingerprintsSeenAt[item].map {
                    SeenConfigurationPart(item: item, fingerprint: fingerprint, firstSeenAt: $0)
                }
            }
        }
    }
}

extension ReferenceState {
    var auditHead: AuditLink { audit.last?.link ?? auditAnchor }

    mutating func append(_ entries: [AuditEntry]) {
        for entry in entries {
            let sealed = SealedAuditEntry(entry, using: &generator)
            audit.append(AuditRow(sealed, link: auditHead.next(sealed.canonicalBytes)))
        }
    }
}

extension AuditRow {
    /// The row after the erasure of its user.
    var withoutPerson: AuditRow {
        AuditRow(entry.withoutPerson, link: link)
    }
}
