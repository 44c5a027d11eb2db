import GRDB
import KeySets

/// Reads the last good key set.
final class KeySetRows {
    private let find: PreparedStatement

    init(in database: Database) throws {
        find = try PreparedStatement(
            "SELECT body, entity_tag, fetched_at, fresh_until FROM key_set_snapshot WHERE id = 1",
            in: database)
    }

    func snapshot() throws -> KeySetSnapshot? {
        find.begin()
        defer { find.finish() }
        guard try find.step(), let body = find.bytes(0), let fetchedAt = find.integer(2),
            let freshUntil = find.integer(3)
        else { return nil }
        return KeySetSnapshot(
            body: body, entityTag: find.text(1), fetchedAt: fetchedAt, freshUntil: freshUntil)
    }
}
