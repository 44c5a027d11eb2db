public import AppleAccounts
import Cryptography
import SQLTables

extension PostgresAccountStore: AuditStore {
    public func appendAudit(_ entries: [AuditEntry]) async throws {
        guard !entries.isEmpty else { return }
        try await pool.run { try AuditRows.append(entries, in: $0) }
    }

    public func auditChain() async throws -> AuditChain { try await pool.run { try AuditRows.chain(in: $0) } }

    public func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow] {
        try await pool.run { try AuditRows.rows(after: sequence, limit: limit, in: $0) }
    }

    public func auditRows(
        before sequence: Int64, of account: AccountID?, limit: Int
    ) async throws -> [AuditRow] {
        try await pool.run { try AuditRows.rows(before: sequence, of: account, limit: limit, in: $0) }
    }

    public func auditSequence(at moment: Moment) async throws -> Int64 {
        try await pool.run { try AuditRows.sequence(at: moment, in: $0) }
    }

    public func purgeAudit(before end: Moment, at now: Moment) async throws -> Int {
        try await pool.run { try AuditRows.purge(before: end, at: now, in: $0) }
    }

    public func noteConfiguration(
        _ fingerprints: [String: String], at moment: Moment
    ) async throws -> [ConfigurationChange] {
        try await pool.run { try AuditRows.noteConfiguration(fingerprints, at: moment, in: $0) }
    }

    public func configurationParts() async throws -> [SeenConfigurationPart] {
        try await pool.run { try AuditRows.configurationParts(in: $0) }
    }
}

/// Reads the audit log, and its rare writes.
enum AuditRows {
    private static let after = TypedQuery<AuditTable, Int64, Int64>("audit_after") {
        $0.add(AuditTable.self)
    } sql: { list, sequence, limit in
        "SELECT \(list) FROM audit WHERE sequence > \(sequence) ORDER BY sequence LIMIT \(limit)"
    }
    private static let before = TypedQuery<AuditTable, Int64, Int64>("audit_before") {
        $0.add(AuditTable.self)
    } sql: { list, sequence, limit in
        "SELECT \(list) FROM audit WHERE sequence < \(sequence) ORDER BY sequence DESC LIMIT \(limit)"
    }
    private static let ofAccount = TypedQuery<AuditTable, AccountID, Int64, Int64>("audit_of_account") {
        $0.add(AuditTable.self)
    } sql: { list, account, sequence, limit in
        """
        SELECT \(list) FROM audit WHERE account_id = \(account) AND sequence < \(sequence)
        ORDER BY sequence DESC LIMIT \(limit)
        """
    }
    private static let sequenceAt = TypedStatement<Moment>("audit_sequence_at") { moment in
        """
        SELECT sequence FROM audit WHERE recorded_at <= \(moment)
        ORDER BY recorded_at DESC, sequence DESC LIMIT 1
        """
    }
    private static let findChain = TypedQuery<AuditChainTable>("audit_chain") {
        $0.add(AuditChainTable.self)
    } sql: { list in
        "SELECT \(list) FROM audit_chain WHERE id = 1"
    }
    // The rows are locked before the chain, as an erasure locks them, so that the two do not wait for each other.
    private static let lockOldest = TypedQuery<AuditTable, Int64>("lock_oldest_audit") {
        $0.add(AuditTable.self)
    } sql: { list, limit in
        "SELECT \(list) FROM audit ORDER BY sequence LIMIT \(limit) FOR UPDATE"
    }
    private static let anyOld = TypedStatement<Moment>("any_old_audit") { end in
        "SELECT 1 FROM audit WHERE recorded_at < \(end) LIMIT 1"
    }
    private static let firstPresentOrOld = TypedStatement<Int64, Int64, Moment, Moment>(
        "first_present_audit"
    ) { sequence, limit, now, end in
        """
        SELECT recorded_at FROM (
            SELECT sequence, recorded_at FROM audit WHERE sequence > \(sequence)
            ORDER BY sequence LIMIT \(limit)) AS next
        WHERE recorded_at <= \(now) OR recorded_at < \(end)
        ORDER BY sequence LIMIT 1
        """
    }
    private static let remove = TypedStatement<Int64>("remove_audit") { sequence in
        "DELETE FROM audit WHERE sequence <= \(sequence)"
    }
    private static let moveAnchor = TypedStatement<Int64, SHA256Digest>("move_audit_anchor") {
        sequence, hash in
        "UPDATE audit_chain SET anchor_sequence = \(sequence), anchor_hash = \(hash) WHERE id = 1"
    }
    private static let lockAccounts = TypedQuery<Column<AccountID>, [AccountID]>("audit_lock_accounts") {
        $0.add("account_id", AccountID.self, as: "account_id")
    } sql: { list, ids in
        """
        SELECT \(list) FROM subject WHERE account_id = ANY (\(ids))
        ORDER BY (SELECT name FROM team WHERE team.id = team_id), sub FOR SHARE
        """
    }
    private static let clear = TypedStatement<AccountID>("clear_audit") { account in
        "UPDATE audit SET \(AuditTable.clearing) WHERE account_id = \(account)"
    }
    private static let findFingerprints = TypedQuery<ConfigurationFingerprintTable>("fingerprints") {
        $0.add(ConfigurationFingerprintTable.self)
    } sql: { list in
        "SELECT \(list) FROM configuration_fingerprint"
    }
    private static let removeFingerprints = TypedStatement<[String]>("remove_fingerprints") { items in
        "DELETE FROM configuration_fingerprint WHERE item = ANY (\(items))"
    }
    private static let putFingerprints = TableWrite<ConfigurationFingerprintTable>(
        inserting: "put_fingerprints",
        """
        ON CONFLICT (item)
        DO UPDATE SET fingerprint = excluded.fingerprint, first_seen_at = excluded.first_seen_at
        """)

    static func chain(in session: PostgresSession) throws -> AuditChain {
        guard let row = try session.run(findChain.statement()).first else {
            throw StorageError(
                .corrupted, detail: "expected one row in audit_chain, found none; restore a backup")
        }
        return try findChain.columns.chain(row)
    }

    static func rows(
        after sequence: Int64, limit: Int, in session: PostgresSession
    ) throws -> [AuditRow] {
        try session.run(after.statement(sequence, Int64(limit))).map { try after.columns.row($0) }
    }

    static func rows(
        before sequence: Int64, of account: AccountID?, limit: Int, in session: PostgresSession
    ) throws -> [AuditRow] {
        guard let account else {
            return try session.run(before.statement(sequence, Int64(limit))).map {
                try before.columns.row($0)
            }
        }
        return try session.run(ofAccount.statement(account, sequence, Int64(limit))).map {
            try ofAccount.columns.row($0)
        }
    }

    static func sequence(at moment: Moment, in session: PostgresSession) throws -> Int64 {
        let rows = try session.run(sequenceAt(moment))
        return rows.isEmpty ? 0 : rows.onlyValue(as: Int64.self) ?? 0
    }

    /// Returns the call that drops a user from the rows about their account.
    static func clearing(_ account: AccountID) -> PostgresCall { clear(account) }

    /// Appends entries that belong to no other change. Locks their accounts, so that none is erased meanwhile.
    static func append(_ entries: [AuditEntry], in session: PostgresSession) throws {
        try inTransaction(of: session) {
            let accounts = Set(entries.compactMap(\.person?.account))
            var known: Set<AccountID> = []
            var begin = [PostgresCall.begin]
            if !accounts.isEmpty {
                let rows = try session.pipeline(begin + [lockAccounts.statement(Array(accounts))])
                known = Set(try rows[1].map { try $0.required(lockAccounts.columns) })
                begin = []
            }
            let appending = AuditAppending(
                entries.map { entry in
                    entry.person.map { known.contains($0.account) } ?? true ? entry : entry.withoutPerson
                })
            _ = try session.pipeline(begin + appending.calls + [.commit])
        }
    }

    static func purge(before end: Moment, at now: Moment, in session: PostgresSession) throws -> Int {
        // Most purges find no old row, and lock nothing.
        guard try !session.run(anyOld(end)).isEmpty else { return 0 }
        return try inTransaction(of: session) {
            let results = try session.pipeline([
                .begin, lockOldest.statement(Int64(AuditPurge.largestStep)),
            ])
            let oldest = try results[1].map { try lockOldest.columns.row($0) }
            let count = try AuditPurge.step(oldest.map(\.facts.moment), before: end, at: now) {
                guard let last = oldest.last?.sequence else { return nil }
                let limit = Int64(AuditPurge.farthestSearch)
                return try session.run(firstPresentOrOld(last, limit, now, end))
                    .onlyValue(as: Moment.self)
            }
            guard let anchor = oldest.prefix(count).last?.link else {
                try session.rollBack()
                return 0
            }
            // The chain is locked from here to the commit alone: audited changes wait for no search.
            _ = try session.pipeline(
                [remove(anchor.sequence), moveAnchor(anchor.sequence, anchor.hash)]
                    + AuditAppending([AuditPurge.entry(upTo: anchor, at: now)]).calls + [.commit])
            return count
        }
    }

    static func noteConfiguration(
        _ fingerprints: [String: String], at moment: Moment, in session: PostgresSession
    ) throws -> [ConfigurationChange] {
        try inTransaction(of: session) {
            // The lock first: a second replica that starts sees what the first has stored.
            let results = try session.pipeline([
                .begin, AuditAppending.lockCall, findFingerprints.statement(),
            ])
            var before: [String: String] = [:]
            for row in results[2] {
                before[try row.required(findFingerprints.columns.item)] =
                    try row.required(findFingerprints.columns.fingerprint)
            }
            let changes = ConfigurationChange.between(before, fingerprints)
            guard !changes.isEmpty else {
                try session.rollBack()
                return []
            }
            let put = putFingerprints.statement.call(changes.filter { $0.after != nil }) { change, row in
                row.set(putFingerprints.columns.item, change.item)
                row.set(putFingerprints.columns.fingerprint, change.after)
                row.set(putFingerprints.columns.firstSeenAt, moment)
            }
            _ = try session.pipeline(
                [removeFingerprints(changes.filter { $0.after == nil }.map(\.item)), put]
                    + AuditAppending(changes.map { $0.entry(at: moment) }).calls + [.commit])
            return changes
        }
    }

    static func configurationParts(in session: PostgresSession) throws -> [SeenConfigurationPart] {
        try session.run(findFingerprints.statement()).map { try findFingerprints.columns.part($0) }
    }

    private static func inTransaction<Value>(
        of session: PostgresSession, _ body: () throws -> Value
    ) throws -> Value {
        try session.rollingBackFailures { try session.repeatingConflicts { try body() } }
    }
}
