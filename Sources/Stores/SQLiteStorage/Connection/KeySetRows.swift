import GRDB
import KeySets
import SQLTables

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
