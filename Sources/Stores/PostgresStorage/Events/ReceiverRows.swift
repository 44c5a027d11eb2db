public import AppleAccounts
import SQLTables

extension PostgresAccountStore: DeliveryStore {
    public func addReceivers(_ names: [ReceiverName], at moment: Moment) async throws {
        try await pool.run { try ReceiverRows.add(names, at: moment, in: $0) }
    }

    public func claimReceivers(
        _ names: [ReceiverName], at moment: Moment, leaseUntil: Moment
    ) async throws -> [ClaimedReceiver] {
        try await pool.run { try ReceiverRows.claim(names, at: moment, leaseUntil: leaseUntil, in: $0) }
    }

    public func renewClaims(
        _ claims: [ReceiverRecord], leaseUntil: Moment
    ) async throws -> Set<ReceiverName> {
        try await pool.run { try ReceiverRows.renew(claims, until: leaseUntil, in: $0) }
    }

    public func endClaim(_ seen: ReceiverRecord, at moment: Moment) async throws -> Bool {
        try await pool.run { try ReceiverRows.endClaim(seen, at: moment, in: $0) }
    }

    public func dueReceivers(_ names: [ReceiverName]) async throws -> [DueReceiver] {
        try await pool.run { session in
            let last = try EventCounter.lastSequence(in: session) ?? 0
            return try ReceiverRows.active(names, in: session).map {
                DueReceiver(record: $0.record, at: $0.due(lastSequence: last))
            }
        }
    }

    public func settle(_ claimed: ReceiverRecord, _ progress: ReceiverProgress) async throws -> Bool {
        try await pool.run { try ReceiverRows.settle(claimed, progress, in: $0) }
    }

    public func events(numbered sequences: [Int64]) async throws -> [AccountEvent] {
        try await pool.run {
            try EventReader(names: $0.names).events(numbered: sequences, in: $0)
        }
    }

    public func receivers() async throws -> [ClaimedReceiver] {
        try await pool.run { try ReceiverRows.all(in: $0) }
    }

    public func receiver(_ name: ReceiverName) async throws -> ClaimedReceiver? {
        try await pool.run { try ReceiverRows.one(name, in: $0) }
    }

    public func requestVerification(
        _ verification: StreamVerification, of name: ReceiverName, at moment: Moment
    ) async throws -> VerificationRequestResult {
        try await pool.run { try ReceiverRows.request(verification, of: name, at: moment, in: $0) }
    }

    public func grantEventSequence(
        of account: AccountID, for client: OAuthClientID, before sequence: Int64
    ) async throws -> Int64? {
        try await pool.run {
            try ReceiverRows.grantEvent(of: account, for: client, before: sequence, in: $0)
        }
    }

    public func resumeReceiver(_ name: ReceiverName, at moment: Moment) async throws -> Bool {
        let entry = AuditEntry.resumed(name, at: moment)
        return try await pool.run { try ReceiverRows.resume(name, at: moment, entry, in: $0) }
    }

    public func moveReceiver(_ name: ReceiverName, to cursor: Int64, at moment: Moment) async throws -> Bool {
        let entry = AuditEntry.replayed(name, after: cursor, at: moment)
        return try await pool.run { try ReceiverRows.move(name, to: cursor, at: moment, entry, in: $0) }
    }

    public func eventSequence(before moment: Moment) async throws -> Int64 {
        try await pool.run { try ReceiverRows.eventSequence(before: moment, in: $0) }
    }
}

/// Receivers and their retries.
enum ReceiverRows {
    private struct Find {
        let columns: EventReceiverTable
        let all: PostgresCall
        let active: TypedStatement<[ReceiverName]>
        let one: TypedStatement<ReceiverName>
        let locked: TypedStatement<ReceiverName>
        let claim: TypedStatement<[ReceiverName], Moment, Int64, Moment>

        init() {
            var list = SelectList()
            columns = list.add(EventReceiverTable.self, as: "r")
            let names = list
            all = PostgresCall(
                PostgresStatement(
                    "all_receivers", "SELECT \(names) FROM event_receiver AS r ORDER BY r.name"))
            active = TypedStatement("active_receivers") {
                """
                SELECT \(names) FROM event_receiver AS r WHERE r.name = ANY (\($0)) AND r.paused_at IS NULL
                """
            }
            one = TypedStatement("find_receiver") {
                "SELECT \(names) FROM event_receiver AS r WHERE r.name = \($0)"
            }
            locked = TypedStatement("lock_receiver") {
                "SELECT \(names) FROM event_receiver AS r WHERE r.name = \($0) FOR UPDATE"
            }
            claim = TypedStatement("claim_receivers") { receivers, moment, room, leaseEnd in
                """
                WITH due AS MATERIALIZED (
                    SELECT name FROM event_receiver AS r
                    WHERE name = ANY (\(receivers)) AND paused_at IS NULL AND not_before <= \(moment) AND (
                        verification_id IS NOT NULL OR
                        (cursor < (SELECT last_sequence FROM event_counter WHERE id = 1)
                            AND (SELECT count(*) FROM event_retry WHERE receiver = r.name) < \(room))
                        OR EXISTS (
                            SELECT 1 FROM event_retry WHERE receiver = r.name AND due_at <= \(moment)))
                    ORDER BY name FOR UPDATE SKIP LOCKED)
                UPDATE event_receiver AS r SET claims = r.claims + 1, not_before = \(leaseEnd)
                FROM due WHERE r.name = due.name RETURNING \(names)
                """
            }
        }
    }

    private static let find = Find()
    private static let findRetries = TypedQuery<EventRetryTable, [ReceiverName]>("find_event_retries") {
        $0.add(EventRetryTable.self)
    } sql: { list, names in
        "SELECT \(list) FROM event_retry WHERE receiver = ANY (\(names)) ORDER BY sequence"
    }
    private static let insert = TableWrite<EventReceiverTable>("add_receivers") { rows in
        """
        INSERT INTO event_receiver (\(rows.names))
        SELECT \(rows.names) FROM \(rows.relation("n")) ORDER BY name ON CONFLICT (name) DO NOTHING
        """
    }
    private static let replace = TableWrite<EventRetryTable>("replace_event_retries") { rows in
        """
        INSERT INTO event_retry (\(rows.names)) SELECT \(rows.names) FROM \(rows.relation("n"))
        \(EventRetryTable.replacing)
        """
    }
    private static let advance = TypedStatement<ReceiverName, Int64, Int64, Moment, Moment, EventID, Int64>(
        "advance_receiver"
    ) { name, claims, cursor, end, paused, verified, more in
        """
        UPDATE event_receiver SET cursor = \(cursor), not_before = \(end), paused_at = \(paused),
            claims = claims + \(more), verification_id = nullif(verification_id, \(verified)),
            verification_state = CASE WHEN verification_id = \(verified) THEN NULL ELSE verification_state END
        WHERE name = \(name) AND claims = \(claims)
        """
    }
    private struct Renewal {
        let statement: TypedStatement<[ReceiverName], [Int64], Moment>
        let name: Column<ReceiverName>

        init() {
            var list = SelectList()
            name = list.add("r.name", ReceiverName.self, as: "name")
            statement = TypedStatement("renew_receiver_claims") { names, claims, end in
                """
                UPDATE event_receiver AS r SET not_before = \(end)
                FROM unnest(\(names), \(claims)) AS held (name, claims)
                WHERE r.name = held.name AND r.claims = held.claims RETURNING \(list)
                """
            }
        }
    }

    private static let renewal = Renewal()
    private static let end = TypedStatement<ReceiverName, Int64, Moment, Moment>("end_receiver_claim") {
        name, claims, end, moment in
        """
        UPDATE event_receiver SET not_before = \(moment)
        WHERE name = \(name) AND claims = \(claims) AND not_before = \(end)
        """
    }
    private static let remove = TypedStatement<ReceiverName, [Int64]>("remove_event_retries") {
        "DELETE FROM event_retry WHERE receiver = \($0) AND sequence = ANY (\($1))"
    }
    private static let resume = TypedStatement<ReceiverName, Moment>("resume_receiver") {
        """
        UPDATE event_receiver SET claims = claims + 1, not_before = \($1), paused_at = NULL
        WHERE name = \($0)
        """
    }
    private static let resumeRetries = TypedStatement<ReceiverName, Moment>("resume_event_retries") {
        "UPDATE event_retry SET due_at = \($1), waiting_since = \($1) WHERE receiver = \($0)"
    }
    private static let move = TypedStatement<ReceiverName, Int64, Moment>("move_receiver") {
        """
        UPDATE event_receiver SET cursor = \($1), claims = claims + 1, not_before = \($2), paused_at = NULL
        WHERE name = \($0)
        """
    }
    private static let removeAll = TypedStatement<ReceiverName>("remove_all_event_retries") {
        "DELETE FROM event_retry WHERE receiver = \($0)"
    }
    private static let verify = TypedStatement<ReceiverName, EventID, String, Moment>("verify_receiver") {
        name, id, state, moment in
        """
        UPDATE event_receiver
        SET verification_id = \(id), verification_state = \(state), verification_asked_at = \(moment)
        WHERE name = \(name)
        """
    }
    private static let grantEvent = TypedStatement<AccountID, OAuthClientID, Int64>("last_event_of_grant") {
        account, client, sequence in
        """
        SELECT max(sequence) FROM event
        WHERE account_id = \(account) AND oauth_client = \(client) AND oauth_client IS NOT NULL
            AND sequence < \(sequence)
        """
    }
    private static let firstSince = TypedStatement<Moment>("first_event_since") {
        "SELECT min(sequence) FROM event WHERE recorded_at >= \($0)"
    }

    static func add(_ names: [ReceiverName], at moment: Moment, in session: PostgresSession) throws {
        let last = try EventCounter.lastSequence(in: session) ?? 0
        _ = try session.run(
            insert.statement.call(names) { name, row in
                insert.columns.write(
                    ReceiverRecord(name: name, cursor: last, notBefore: moment), to: row)
            })
    }

    static func all(in session: PostgresSession) throws -> [ClaimedReceiver] {
        try withRetries(try session.run(find.all).map { try find.columns.record($0) }, in: session)
    }

    /// Returns those of the receivers that are not paused. A paused one can have hundreds of retries, which
    /// must cost nothing.
    static func active(_ names: [ReceiverName], in session: PostgresSession) throws -> [ClaimedReceiver] {
        try withRetries(
            try session.run(find.active(names)).map { try find.columns.record($0) }, in: session)
    }

    static func one(_ name: ReceiverName, in session: PostgresSession) throws -> ClaimedReceiver? {
        try withRetries(
            try session.run(find.one(name)).map { try find.columns.record($0) }, in: session
        ).first
    }

    static func request(
        _ verification: StreamVerification, of name: ReceiverName, at moment: Moment,
        in session: PostgresSession
    ) throws -> VerificationRequestResult {
        let results = try session.pipeline([.begin, find.locked(name)])
        guard var record = try results[1].first.map({ try find.columns.record($0) }) else {
            try session.rollBack()
            return .unknownReceiver
        }
        let result = record.request(verification, at: moment)
        guard result == .accepted else {
            try session.rollBack()
            return result
        }
        _ = try session.pipeline([
            verify(name, verification.id, verification.state, moment), .commit,
        ])
        return result
    }

    static func grantEvent(
        of account: AccountID, for client: OAuthClientID, before sequence: Int64,
        in session: PostgresSession
    ) throws -> Int64? {
        try session.run(grantEvent(account, client, sequence)).onlyValue(as: Int64.self)
    }

    static func claim(
        _ names: [ReceiverName], at moment: Moment, leaseUntil: Moment, in session: PostgresSession
    ) throws -> [ClaimedReceiver] {
        let call = find.claim(names, moment, Int64(DeliveryRetry.mostPerReceiver), leaseUntil)
        return try withRetries(try session.run(call).map { try find.columns.record($0) }, in: session)
    }

    /// Returns the names of the claims that are still the last ones.
    static func renew(
        _ claims: [ReceiverRecord], until end: Moment, in session: PostgresSession
    ) throws -> Set<ReceiverName> {
        let call = renewal.statement(claims.map(\.name), claims.map(\.claims), end)
        return Set(try session.run(call).map { try $0.required(renewal.name) })
    }

    static func endClaim(
        _ seen: ReceiverRecord, at moment: Moment, in session: PostgresSession
    ) throws -> Bool {
        try session.run(end(seen.name, seen.claims, seen.notBefore, moment)).affected > 0
    }

    /// Writes what a claim has achieved, unless there is a later claim.
    static func settle(
        _ claimed: ReceiverRecord, _ progress: ReceiverProgress, in session: PostgresSession
    ) throws -> Bool {
        let call = advance(
            claimed.name, claimed.claims, progress.cursor, progress.notBefore, progress.pausedAt,
            progress.verified, progress.countsAsClaim ? 1 : 0)
        if progress.changed.isEmpty, progress.removed.isEmpty { return try session.run(call).affected > 0 }
        // The update locks the row of the receiver, so no later claim begins before the commit.
        let results = try session.pipeline([.begin, call])
        guard results[1].affected > 0 else {
            try session.rollBack()
            return false
        }
        let replacing = replace.statement.call(progress.changed) {
            replace.columns.write($0, of: claimed.name, to: $1)
        }
        _ = try session.pipeline([replacing, remove(claimed.name, progress.removed), .commit])
        return true
    }

    static func resume(
        _ name: ReceiverName, at moment: Moment, _ entry: AuditEntry, in session: PostgresSession
    ) throws -> Bool {
        try changeKnown([resume(name, moment), resumeRetries(name, moment)], entry, in: session)
    }

    /// Runs calls whose first finds the receiver, and notes them in the audit log if it is found.
    private static func changeKnown(
        _ calls: [PostgresCall], _ entry: AuditEntry, in session: PostgresSession
    ) throws -> Bool {
        let results = try session.pipeline([.begin] + calls)
        guard results[1].affected > 0 else {
            try session.rollBack()
            return false
        }
        _ = try session.pipeline(AuditAppending([entry]).calls + [.commit])
        return true
    }

    static func move(
        _ name: ReceiverName, to cursor: Int64, at moment: Moment, _ entry: AuditEntry,
        in session: PostgresSession
    ) throws -> Bool {
        try changeKnown([move(name, cursor, moment), removeAll(name)], entry, in: session)
    }

    static func eventSequence(before moment: Moment, in session: PostgresSession) throws -> Int64 {
        if let first = try session.run(firstSince(moment)).onlyValue(as: Int64.self) { return first - 1 }
        return try EventCounter.lastSequence(in: session) ?? 0
    }

    private static func withRetries(
        _ records: [ReceiverRecord], in session: PostgresSession
    ) throws -> [ClaimedReceiver] {
        guard !records.isEmpty else { return [] }
        var retries: [ReceiverName: [DeliveryRetry]] = [:]
        for row in try session.run(findRetries.statement(records.map(\.name))) {
            retries[try row.required(findRetries.columns.receiver), default: []].append(
                try findRetries.columns.retry(row))
        }
        return records.map { ClaimedReceiver(record: $0, retries: retries[$0.name] ?? []) }
    }
}
