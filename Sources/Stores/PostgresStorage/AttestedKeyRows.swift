public import AppAttestation
public import AppleAccounts
import SQLTables

extension PostgresAccountStore: AppAttestStore {
    public func attestedKey(_ id: AttestedKeyID) async throws -> AttestedKeyRecord? {
        try await pool.run { try AttestedKeyRows.find(id, in: $0) }
    }
}

/// Reads and writes App Attest keys and each app's key count.
enum AttestedKeyRows {
    private static let insert = RowWrite<AppAttestKeyTable>(inserting: "insert_attested_keys")
    /// Aborts the transaction if a stored counter is no longer lower than the new counter, or if a key was
    /// deleted.
    private static let raise = RowWrite<AppAttestKeyTable>("raise_attested_counters", .use) { rows in
        """
        WITH changed AS (
            UPDATE app_attest_key AS k SET
                counter = n.counter, used_at = n.used_at,
                validation_category = n.validation_category, bundle_version = n.bundle_version
            FROM \(rows.relation("n")) WHERE k.key_id = n.key_id AND k.counter < n.counter
            RETURNING 1)
        SELECT expect_rows(count(*), \(rows.rowCount)) FROM changed
        """
    }

    private static let find = TypedQuery<AppAttestKeyTable, [AttestedKeyID]>(rows: "find_attested_keys") {
        "WHERE key_id = ANY (\($0))"
    }
    private static let lock = TypedQuery<AppAttestKeyTable, [AttestedKeyID]>(rows: "lock_attested_keys") {
        "WHERE key_id = ANY (\($0)) ORDER BY key_id FOR UPDATE"
    }
    // All transactions insert in the same order, so that two transactions that insert the same apps cannot
    // deadlock.
    private static let insertCounts = TypedStatement<[AppID]>("insert_attested_counts") {
        """
        INSERT INTO app_attest_count (app_id, key_count)
        SELECT k.app_id, 0 FROM unnest(\($0)) WITH ORDINALITY AS k (app_id, place) ORDER BY k.place
        ON CONFLICT (app_id) DO NOTHING
        """
    }
    private static let lockCounts = TypedQuery<AppAttestCountTable, [AppID]>(rows: "lock_attested_counts") {
        "WHERE app_id = ANY (\($0)) ORDER BY app_id FOR UPDATE"
    }
    private static let writeCounts = RowWrite<AppAttestCountTable>("update_attested_counts") { rows in
        """
        UPDATE app_attest_count AS c SET key_count = n.key_count FROM \(rows.relation("n"))
        WHERE c.app_id = n.app_id
        """
    }

    /// Reads keys without locking them.
    static func findCall(_ ids: [AttestedKeyID]) -> PostgresCall? {
        ids.isEmpty ? nil : find.statement(ids)
    }

    static func load(_ rows: PostgresRows, into set: inout WorkingSet) throws {
        for row in rows { set.load(try find.columns.record(row)) }
    }

    static func find(_ id: AttestedKeyID, in session: PostgresSession) throws -> AttestedKeyRecord? {
        try session.run(find.statement([id])).first.map { try find.columns.record($0) }
    }

    /// Returns the calls that lock and read a batch's keys, and the key counts of its apps. The lock on a
    /// count also covers keys that have no row yet.
    static func lockCalls(for set: WorkingSet) -> [PostgresCall] {
        let (ids, apps) = (set.attestedKeyIDs, set.countedApps)
        guard !ids.isEmpty else { return [] }
        guard !apps.isEmpty else { return [lock.statement(ids)] }
        // The counts are locked first. The lock waits for a transaction that is inserting a key, so the
        // last statement sees the key's row.
        return [insertCounts(apps), lockCounts.statement(apps), lock.statement(ids)]
    }

    /// - Parameter results: The results of `lockCalls`.
    static func load(locked results: ArraySlice<PostgresRows>, into set: inout WorkingSet) throws {
        guard let keys = results.last else { return }
        for row in keys { set.load(try lock.columns.record(row)) }
        guard results.count == 3 else { return }
        for row in results[results.startIndex + 1] {
            set.load(
                keyCount: try row.required(lockCounts.columns.keyCount),
                of: try row.required(lockCounts.columns.appID))
        }
    }

    static func raiseCall(_ set: WorkingSet) -> PostgresCall? {
        raise.calls(set.raisedAttestedKeys) { $0.write($1, to: $2) }.first
    }

    static func saveCalls(_ set: WorkingSet) -> [PostgresCall] {
        guard set.changesAttestedKeys else { return [] }
        var calls: [PostgresCall] = []
        let new = set.newAttestedKeys
        if !new.isEmpty {
            calls += insert.calls(new) { $0.write($1, to: $2) }
            calls += writeCounts.calls(set.changedKeyCounts) {
                $2.set($0.appID, $1.app)
                $2.set($0.keyCount, $1.count)
            }
        }
        if let raise = raiseCall(set) { calls.append(raise) }
        return calls
    }
}
