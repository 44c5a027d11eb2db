public import KeySets
import SQLTables

/// Stores the last good key set in the database, so that a restart works while Apple is unreachable. All
/// replicas share it.
public struct PostgresKeySetSnapshotStore: KeySetSnapshotStore {
    private struct Find {
        let call: PostgresCall
        let columns: KeySetSnapshotTable

        init() {
            var list = SelectList()
            columns = list.add(KeySetSnapshotTable.self, .values)
            call = PostgresCall(
                PostgresStatement("load_key_set", "SELECT \(list) FROM key_set_snapshot WHERE id = 1"))
        }
    }

    /// Saves a key set unless a newer set is stored, so that a slow replica does not replace it. A stored
    /// time in the future is ignored, so that a replica whose clock ran ahead does not keep all others from
    /// storing.
    private struct Save {
        let columns: KeySetSnapshotTable
        let statement: RowStatement

        init() {
            var rows = RowParameters()
            columns = rows.add(KeySetSnapshotTable.self)
            statement = RowStatement(
                "save_key_set", rows,
                """
                INSERT INTO key_set_snapshot AS kept (\(rows.names)) SELECT * FROM \(rows.unnest)
                ON CONFLICT (id)
                DO UPDATE SET \(KeySetSnapshotTable.names(.values).assigned(from: "excluded"))
                WHERE kept.fetched_at <= excluded.fetched_at
                    OR kept.fetched_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint
                """)
        }
    }

    private static let find = Find()
    private static let save = Save()

    private let pool: PostgresPool

    init(pool: PostgresPool) {
        self.pool = pool
    }

    public func load() async throws -> KeySetSnapshot? {
        try await pool.run { session in
            try session.run(Self.find.call).first.flatMap { Self.find.columns.snapshot($0) }
        }
    }

    public func save(_ snapshot: KeySetSnapshot) async throws {
        let call = Self.save.statement.call([snapshot]) { Self.save.columns.write($0, to: $1) }
        _ = try await pool.run { try $0.run(call).affected }
    }
}
