public import AppleAccounts
import AuthorizationServer

/// Statements for event receivers and their retries, for both databases.
private enum DeliveryStatements {
    static let all = SQLStatement<EventReceiverTable>(rows: "all_receivers") { dialect in
        "ORDER BY name \(dialect.byteOrder)"
    }
    static let active = SQLStatement<EventReceiverTable, SQLList>(rows: "active_receivers") {
        dialect, names in
        "WHERE name IN \(dialect.members(of: names)) AND paused_at IS NULL"
    }
    static let one = SQLStatement<EventReceiverTable, ReceiverName>(rows: "find_receiver") { _, name in
        "WHERE name = \(name)"
    }
    static let locked = SQLStatement<EventReceiverTable, ReceiverName>(rows: "lock_receiver") {
        dialect, name in
        "WHERE name = \(name) \(dialect.locking)"
    }
    static let claim = SQLStatement<EventReceiverTable, SQLList, Moment, Int64, Moment>("claim_receivers") {
        $0.add(EventReceiverTable.self)
    } sql: { dialect, list, names, moment, room, leaseEnd in
        """
        WITH due AS MATERIALIZED (
            SELECT name FROM event_receiver AS r
            WHERE name IN \(dialect.members(of: names)) AND paused_at IS NULL AND not_before <= \(moment) AND (
                verification_id IS NOT NULL
                OR cursor < \(dialect.lastEvent)
                    AND (SELECT count(*) FROM event_retry WHERE receiver = r.name) < \(room)
                OR EXISTS (SELECT 1 FROM event_retry WHERE receiver = r.name AND due_at <= \(moment)))
            ORDER BY name \(dialect.skippingLocked))
        UPDATE event_receiver SET claims = claims + 1, not_before = \(leaseEnd)
        WHERE name IN (SELECT name FROM due) RETURNING \(list)
        """
    }
    static let retries = SQLStatement<EventRetryTable, SQLList>(rows: "find_event_retries") {
        dialect, names in
        "WHERE receiver IN \(dialect.members(of: names)) ORDER BY sequence"
    }
    static let insert = SQLInsertion<EventReceiverTable>(
        "add_receiver", conflict: "ON CONFLICT (name) DO NOTHING")
    static let replace = SQLInsertion<EventRetryTable>(
        "replace_event_retry", conflict: EventRetryTable.replacing)
    static let advance = SQLStatement<Void, ReceiverName, Int64, Int64, Moment, Moment, EventID, Int64>(
        "advance_receiver"
    ) { _, name, claims, cursor, end, paused, verified, more in
        """
        UPDATE event_receiver SET cursor = \(cursor), not_before = \(end), paused_at = \(paused),
            claims = claims + \(more), verification_id = nullif(verification_id, \(verified)),
            verification_state = CASE WHEN verification_id = \(verified) THEN NULL ELSE verification_state END
        WHERE name = \(name) AND claims = \(claims)
        """
    }
    static let renew = SQLStatement<Column<ReceiverName>, ReceiverName, Int64, Moment>(
        "renew_receiver_claim"
    ) {
        $0.add("name", ReceiverName.self, as: "name")
    } sql: { _, list, name, claims, end in
        """
        UPDATE event_receiver SET not_before = \(end) WHERE name = \(name) AND claims = \(claims)
        RETURNING \(list)
        """
    }
    static let end = SQLStatement<Void, ReceiverName, Int64, Moment, Moment>("end_receiver_claim") {
        _, name, claims, end, moment in
        """
        UPDATE event_receiver SET not_before = \(moment)
        WHERE name = \(name) AND claims = \(claims) AND not_before = \(end)
        """
    }
    static let remove = SQLStatement<Void, ReceiverName, Int64>("remove_event_retry") { _, name, sequence in
        "DELETE FROM event_retry WHERE receiver = \(name) AND sequence = \(sequence)"
    }
    static let resume = SQLStatement<Void, ReceiverName, Moment>("resume_receiver") { _, name, moment in
        """
        UPDATE event_receiver SET claims = claims + 1, not_before = \(moment), paused_at = NULL
        WHERE name = \(name)
        """
    }
    static let resumeRetries = SQLStatement<Void, ReceiverName, Moment>("resume_event_retries") {
        _, name, moment in
        "UPDATE event_retry SET due_at = \(moment), waiting_since = \(moment) WHERE receiver = \(name)"
    }
    static let move = SQLStatement<Void, ReceiverName, Int64, Moment>("move_receiver") {
        _, name, cursor, moment in
        """
        UPDATE event_receiver SET cursor = \(cursor), claims = claims + 1, not_before = \(moment), paused_at = NULL
        WHERE name = \(name)
        """
    }
    static let removeAll = SQLStatement<Void, ReceiverName>("remove_all_event_retries") { _, name in
        "DELETE FROM event_retry WHERE receiver = \(name)"
    }
    static let verify = SQLStatement<Void, ReceiverName, EventID, String, Moment>("verify_receiver") {
        _, name, id, state, moment in
        """
        UPDATE event_receiver
        SET verification_id = \(id), verification_state = \(state), verification_asked_at = \(moment)
        WHERE name = \(name)
        """
    }
    static let grantEvent = SQLStatement<Void, AccountID, OAuthClientID, Int64>("last_event_of_grant") {
        _, account, client, sequence in
        """
        SELECT max(sequence) FROM event
        WHERE account_id = \(account) AND oauth_client = \(client) AND oauth_client IS NOT NULL
            AND sequence < \(sequence)
        """
    }
    static let firstSince = SQLStatement<Void, Moment>("first_event_since") { _, moment in
        "SELECT min(sequence) FROM event WHERE recorded_at >= \(moment)"
    }
}

extension SQLSession {
    fileprivate func receivers(_ call: SQLCall) throws -> [ClaimedReceiver] {
        let records = try rows(call) { try DeliveryStatements.all.columns.record($0) }
        guard !records.isEmpty else { return [] }
        let (names, columns) = (SQLList(records.map(\.name.rawValue)), DeliveryStatements.retries.columns)
        let receiver = columns["receiver", ReceiverName.self]
        var retries: [ReceiverName: [DeliveryRetry]] = [:]
        try run(DeliveryStatements.retries(names)) { row in
            retries[try row.required(receiver), default: []].append(try columns.record(row))
        }
        return records.map { ClaimedReceiver(record: $0, retries: retries[$0.name] ?? []) }
    }
}

extension SQLReader {
    public func receivers() async throws -> [ClaimedReceiver] {
        try await snapshot { try $0.receivers(DeliveryStatements.all()) }
    }
}

extension DeliveryStore where Self: SQLStore {
    public func addReceivers(_ names: [ReceiverName], at moment: Moment) async throws {
        try await transaction { session in
            let last = try session.lastEvent()
            // All replicas insert in the same order, so that two replicas that add the same receivers cannot
            // deadlock.
            try session.run(
                names.sorted { $0.rawValue < $1.rawValue }.map { name in
                    DeliveryStatements.insert {
                        $0.write(ReceiverRecord(name: name, cursor: last, notBefore: moment), to: $1)
                    }
                })
        }
    }

    public func claimReceivers(
        _ names: [ReceiverName], at moment: Moment, leaseUntil: Moment
    ) async throws -> [ClaimedReceiver] {
        let call = DeliveryStatements.claim(
            SQLList(names.map(\.rawValue)), moment, Int64(DeliveryRetry.mostPerReceiver), leaseUntil)
        return try await transaction { try $0.receivers(call) }
    }

    public func renewClaims(
        _ claims: [ReceiverRecord], leaseUntil: Moment
    ) async throws -> Set<ReceiverName> {
        let calls = claims.sorted { $0.name.rawValue < $1.name.rawValue }.map {
            DeliveryStatements.renew($0.name, $0.claims, leaseUntil)
        }
        return try await transaction { session in
            var renewed: Set<ReceiverName> = []
            try session.run(calls) {
                renewed.insert(try $1.required(DeliveryStatements.renew.columns))
            }
            return renewed
        }
    }

    public func endClaim(_ seen: ReceiverRecord, at moment: Moment) async throws -> Bool {
        try await run(DeliveryStatements.end(seen.name, seen.claims, seen.notBefore, moment)) > 0
    }

    public func dueReceivers(_ names: [ReceiverName]) async throws -> [DueReceiver] {
        // The call excludes paused receivers, because they can have hundreds of retries.
        let call = DeliveryStatements.active(SQLList(names.map(\.rawValue)))
        return try await snapshot { session in
            let last = try session.lastEvent()
            return try session.receivers(call).map {
                DueReceiver(record: $0.record, at: $0.due(lastSequence: last))
            }
        }
    }

    public func settle(_ claimed: ReceiverRecord, _ progress: ReceiverProgress) async throws -> Bool {
        let advance = DeliveryStatements.advance(
            claimed.name, claimed.claims, progress.cursor, progress.notBefore, progress.pausedAt,
            progress.verified, progress.countsAsClaim ? 1 : 0)
        if progress.changed.isEmpty, progress.removed.isEmpty { return try await run(advance) > 0 }
        let changes =
            progress.changed.map { retry in
                DeliveryStatements.replace {
                    $0.write(retry, to: $1)
                    $1.set($0["receiver", ReceiverName.self], claimed.name)
                }
            } + progress.removed.map { DeliveryStatements.remove(claimed.name, $0) }
        return try await transaction { session in
            // The update locks the receiver's row, so no later claim can begin before the commit.
            guard try session.run(advance) > 0 else { return false }
            try session.run(changes)
            return true
        }
    }

    public func receiver(_ name: ReceiverName) async throws -> ClaimedReceiver? {
        try await snapshot { try $0.receivers(DeliveryStatements.one(name)).first }
    }

    public func requestVerification(
        _ verification: StreamVerification, of name: ReceiverName, at moment: Moment
    ) async throws -> VerificationRequestResult {
        try await transaction { session in
            guard var record = try session.records(DeliveryStatements.locked, name).first else {
                return .unknownReceiver
            }
            let result = record.request(verification, at: moment)
            if result == .accepted {
                try session.run(
                    DeliveryStatements.verify(name, verification.id, verification.state, moment))
            }
            return result
        }
    }

    public func grantEventSequence(
        of account: AccountID, for client: OAuthClientID, before sequence: Int64
    ) async throws -> Int64? {
        try await snapshot {
            try $0.value(DeliveryStatements.grantEvent(account, client, sequence), as: Int64.self)
        }
    }

    public func resumeReceiver(_ name: ReceiverName, at moment: Moment) async throws -> Bool {
        try await change(
            name, DeliveryStatements.resume(name, moment), DeliveryStatements.resumeRetries(name, moment),
            .resumed(name, at: moment))
    }

    public func moveReceiver(_ name: ReceiverName, to cursor: Int64, at moment: Moment) async throws -> Bool {
        try await change(
            name, DeliveryStatements.move(name, cursor, moment), DeliveryStatements.removeAll(name),
            .replayed(name, after: cursor, at: moment))
    }

    /// Changes a receiver and its retries. Returns false, and changes nothing, if the receiver is unknown.
    private func change(
        _ name: ReceiverName, _ receiver: SQLCall, _ retries: SQLCall, _ entry: AuditEntry
    ) async throws -> Bool {
        try await transaction { session in
            guard try session.run(receiver) > 0 else { return false }
            try session.run(retries)
            try session.appendAudit([entry])
            return true
        }
    }

    public func eventSequence(before moment: Moment) async throws -> Int64 {
        try await once { session in
            let first = try session.value(DeliveryStatements.firstSince(moment), as: Int64.self)
            return try first.map { $0 - 1 } ?? session.lastEvent()
        }
    }
}
