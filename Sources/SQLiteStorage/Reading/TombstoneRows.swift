import AppleAccounts
import GRDB

/// Finds what is left of a person who was erased. Only looked for when the person is not found.
final class TombstoneRows {
    private let find: PreparedStatement

    init(in database: Database) throws {
        find = try PreparedStatement(
            """
            SELECT subject_id, revoked_at FROM credential
            WHERE id BETWEEN ?1 AND ?2 AND key_check = ?3 AND app_id = \(Names.allApps)
            """, in: database)
    }

    func find(_ key: SubjectKey, team: Int64) throws -> (record: SubjectRecord, place: SubjectPlace)? {
        let digest = KeyDigest(team: team, name: key.tombstoneName)
        find.begin()
        find.bind(digest.credentialIDs, at: 1)
        find.bind(digest.check, at: 3)
        defer { find.finish() }
        guard try find.step(), let rowID = find.integer(0), let moment = find.moment(1) else { return nil }
        return (SubjectRecord(tombstoneOf: key, erasedAt: moment), SubjectPlace(rowID: rowID, digest: digest))
    }
}
