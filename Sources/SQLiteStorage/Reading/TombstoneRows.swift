import AppleAccounts
import GRDB

/// Finds what is left of a person who was erased. Only looked for when the person is not found.
final class TombstoneRows {
    private let find: PreparedStatement

    init(in database: Database) throws {
        find = try PreparedStatement(
            """
            SELECT s.id, c.revoked_at FROM subject s JOIN credential c ON c.subject_id = s.id
            WHERE s.key_digest = ?1 AND c.app_id = \(Names.allApps)
            """, in: database)
    }

    func find(_ key: SubjectKey, team: Int64) throws -> (record: SubjectRecord, rowID: Int64)? {
        find.begin()
        find.bind(KeyDigest.make(team: team, name: key.tombstoneName), at: 1)
        defer { find.finish() }
        guard try find.step(), let rowID = find.integer(0), let moment = find.moment(1) else { return nil }
        return (SubjectRecord(tombstoneOf: key, erasedAt: moment), rowID)
    }
}
