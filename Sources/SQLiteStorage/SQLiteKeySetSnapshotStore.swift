import Foundation
import GRDB
public import KeySets

/// Keeps the last good key set in the database, so that a restart while Apple is out of reach works.
public struct SQLiteKeySetSnapshotStore: KeySetSnapshotStore {
    private let writer: WriteConnection
    private let reader: ReadConnection

    init(writer: WriteConnection, reader: ReadConnection) {
        (self.writer, self.reader) = (writer, reader)
    }

    public func load() async throws -> KeySetSnapshot? {
        try await reader.read { try $0.keySets.snapshot() }
    }

    public func save(_ snapshot: KeySetSnapshot) async throws {
        try await writer.run { database in
            try database.execute(
                sql: """
                    INSERT INTO key_set_snapshot (id, body, entity_tag, fetched_at, fresh_until)
                    VALUES (1, ?, ?, ?, ?)
                    ON CONFLICT (id) DO UPDATE SET body = excluded.body, entity_tag = excluded.entity_tag,
                        fetched_at = excluded.fetched_at, fresh_until = excluded.fresh_until
                    """,
                arguments: [
                    Data(snapshot.body), snapshot.entityTag, snapshot.fetchedAt, snapshot.freshUntil,
                ])
        }
    }
}
