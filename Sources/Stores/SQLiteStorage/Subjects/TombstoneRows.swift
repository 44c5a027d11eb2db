import AppleAccounts
import GRDB
import SQLTables

/// Finds the tombstone of an erased user. Used only when the user has no row.
final class TombstoneRows {
    private let find: PreparedStatement
    private let ids: RangeParameters
    private let check: Parameter<Int64>
    private let columns: CredentialTable

    init(in database: Database) throws {
        var parameters = ParameterList()
        (ids, check) = (parameters.addRange(), parameters.add(Int64.self))
        var list = SelectList()
        columns = list.add(CredentialTable.self, .only { [$0.subjectID, $0.revokedAt] })
        find = try PreparedStatement(
            """
            SELECT \(list) FROM credential
            WHERE id BETWEEN \(ids) AND key_check = \(check) AND app_id = \(AppTable.allApps)
            """, in: database)
    }

    func find(_ key: SubjectKey, team: Int64) throws -> (record: SubjectRecord, place: SubjectPlace)? {
        let digest = KeyDigest(team: team, name: key.tombstoneName)
        find.begin()
        find.bind(digest.credentialIDs, to: ids)
        find.bind(digest.check, to: check)
        defer { find.finish() }
        guard try find.step(), let rowID = find[columns.subjectID], let moment = find[columns.revokedAt]
        else { return nil }
        return (SubjectRecord(tombstoneOf: key, erasedAt: moment), SubjectPlace(rowID: rowID, digest: digest))
    }
}
