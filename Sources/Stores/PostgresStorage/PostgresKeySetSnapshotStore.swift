public import KeySets
import SQLTables

/// Stores the last good key set in the database, so that a restart works while Apple is unreachable. All
/// replicas share it.
public struct PostgresKeySetSnapshotStore: KeySetSnapshotStore {
    private static let find = TypedQuery<KeySetSnapshotTable>("load_key_set") {
        $0.add(KeySetSnapshotTable.self, .values)
    } sql: { list in
        "SELECT \(list) FROM key_set_snapshot WHERE id = 1"
    }
    /// Saves a key set unless a newer set is stored, so that a slow replica does not replace it. A stored
    /// time in the future is ignored, so that a replica whose clock ran ahead does not keep all others from
    /// storing.
    private static let save = TableWrite<KeySetSnapshotTable>("save_key_set") { rows in
        """
        INSERT INTO key_set_snapshot AS kept (\(rows.names)) SELECT * FROM \(rows.unnest)
        ON CONFLICT (id)
        DO UPDATE SET \(KeySetSnapshotTable.names(.values).assigned(from: "excluded"))
        WHERE kept.fetched_at <= excluded.fetched_at
            OR kept.fetched_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        """
    }

    private let pool: PostgresPool

    init(pool: PostgresPool) {
        self.pool = pool
    }

    public func load() async throws -> KeySetSnapshot? {
        try await pool.run { session in
            try session.run(Self.find.statement()).first.flatMap { Self.find.columns.snapshot($0) }
        }
    }

    public func save(_ snapshot: KeySetSnapshot) async throws {
        let call = Self.save.statement.call([snapshot]) { Self.save.columns.write($0, to: $1) }
        _ = try await pool.run { try $0.run(call).affected }
    }
}
