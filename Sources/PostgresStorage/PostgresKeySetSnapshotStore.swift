public import KeySets

/// Keeps the last good key set in the database, so that a restart while Apple is out of reach works. All
/// replicas share it.
public struct PostgresKeySetSnapshotStore: KeySetSnapshotStore {
    private static let find = PostgresCall(
        PostgresStatement(
            "load_key_set",
            "SELECT body, entity_tag, fetched_at, fresh_until FROM key_set_snapshot WHERE id = 1"))

    /// A replica that was slow does not put an older set in the place of a newer one. One whose clock ran ahead must not
    /// keep all others from storing.
    private static let save = PostgresStatement(
        "save_key_set",
        """
        INSERT INTO key_set_snapshot AS kept (id, body, entity_tag, fetched_at, fresh_until)
        VALUES (1, $1::bytea, $2::text, $3::bigint, $4::bigint)
        ON CONFLICT (id) DO UPDATE SET body = excluded.body, entity_tag = excluded.entity_tag,
            fetched_at = excluded.fetched_at, fresh_until = excluded.fresh_until
        WHERE kept.fetched_at <= excluded.fetched_at
            OR kept.fetched_at > (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        """)

    private let pool: PostgresPool

    init(pool: PostgresPool) {
        self.pool = pool
    }

    public func load() async throws -> KeySetSnapshot? {
        try await pool.run { session in
            let rows = try session.run(Self.find)
            guard rows.count == 1, let body = rows.bytes(0, 0), let fetchedAt = rows.integer(0, 2),
                let freshUntil = rows.integer(0, 3)
            else { return nil }
            return KeySetSnapshot(
                body: body, entityTag: rows.text(0, 1), fetchedAt: fetchedAt, freshUntil: freshUntil)
        }
    }

    public func save(_ snapshot: KeySetSnapshot) async throws {
        let values: [PostgresValue] = [
            .bytes(snapshot.body), .text(snapshot.entityTag), .integer(snapshot.fetchedAt),
            .integer(snapshot.freshUntil),
        ]
        _ = try await pool.run { try $0.run(PostgresCall(Self.save, values)).affected }
    }
}
