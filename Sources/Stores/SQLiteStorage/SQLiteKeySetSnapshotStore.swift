import GRDB
public import KeySets
import SQLTables

/// Stores the last good key set in the database, so that a restart works while Apple is unreachable.
public struct SQLiteKeySetSnapshotStore: KeySetSnapshotStore {
    private static let put = Insertion<KeySetSnapshotTable>(
        conflict: """
            ON CONFLICT (id)
            DO UPDATE SET \(KeySetSnapshotTable.names(.values).assigned(from: "excluded"))
            """)

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
            try Self.put.run(in: database) { $0.write(snapshot, to: $1) }
        }
    }
}

/// Reads the last good key set.
final class KeySetRows {
    private let find: PreparedStatement
    private let columns: KeySetSnapshotTable

    init(in database: Database) throws {
        var list = SelectList()
        columns = list.add(KeySetSnapshotTable.self, .values)
        find = try PreparedStatement("SELECT \(list) FROM key_set_snapshot WHERE id = 1", in: database)
    }

    func snapshot() throws -> KeySetSnapshot? {
        find.begin()
        defer { find.finish() }
        return try find.step() ? columns.snapshot(find) : nil
    }
}
