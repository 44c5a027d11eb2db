import AppleAccounts
import GRDB
import SQLTables

/// Reads subjects with all their credentials. One indexed look-up returns one row for each credential.
final class SubjectRows {
    /// Two statements with the same columns, and their parameters.
    struct Selection {
        let byKey: String
        let digest: Parameter<KeyDigest>
        let credentialIDs: RangeParameters
        let byAccount: String
        let accountID: Parameter<AccountID>
        let subject: SQLiteSubjectTable
        let credential: CredentialTable

        init() {
            var list = SelectList()
            subject = list.add(SQLiteSubjectTable.self, as: "s")
            credential = list.add(CredentialTable.self, as: "c", .factsOfApp)
            func select(_ condition: String, credentialsBetween ids: String) -> String {
                """
                SELECT \(list)
                FROM subject s LEFT JOIN credential c ON c.id BETWEEN \(ids) AND +c.subject_id = s.id
                WHERE \(condition)
                """
            }
            var keyParameters = ParameterList()
            (digest, credentialIDs) = (keyParameters.add(KeyDigest.self), keyParameters.addRange())
            byKey = select("s.key_digest = \(digest)", credentialsBetween: "\(credentialIDs)")
            var accountParameters = ParameterList()
            accountID = accountParameters.add(AccountID.self)
            byAccount = select(
                "s.account_id = \(accountID)",
                credentialsBetween: "first_credential_id(s.key_digest) AND last_credential_id(s.key_digest)")
        }
    }

    private let names: Names
    private let selection: Selection
    private let byKey: PreparedStatement
    private let byAccount: PreparedStatement
    private let tombstones: TombstoneRows

    init(_ names: Names, in database: Database) throws {
        self.names = names
        selection = Selection()
        byKey = try PreparedStatement(selection.byKey, in: database)
        byAccount = try PreparedStatement(selection.byAccount, in: database)
        tombstones = try TombstoneRows(in: database)
    }

    /// Returns a user's record, or an erased user's tombstone; `nil` if there is neither.
    func find(_ key: SubjectKey) throws -> (record: SubjectRecord, place: SubjectPlace)? {
        guard let team = try names.teams.number(of: key.team) else { return nil }
        return try findRow(key, team: team) ?? tombstones.find(key, team: team)
    }

    private func findRow(
        _ key: SubjectKey, team: Int64
    ) throws -> (record: SubjectRecord, place: SubjectPlace)? {
        let digest = KeyDigest(team: team, name: key.subject.rawValue)
        byKey.begin()
        byKey.bind(digest, to: selection.digest)
        byKey.bind(digest.credentialIDs, to: selection.credentialIDs)
        defer { byKey.finish() }
        guard try byKey.step(), let rowID = byKey[selection.subject.common.id] else { return nil }
        guard byKey[selection.subject.common.teamID] == team,
            byKey[selection.subject.common.subject] == key.subject.rawValue
        else {
            throw StorageError(
                .corrupted,
                detail:
                    "expected subject \(rowID) to be the one of its key_digest, found another; restore a backup"
            )
        }
        return (try read(byKey, key: key), SubjectPlace(rowID: rowID, digest: digest))
    }

    func find(_ id: AccountID) throws -> (record: SubjectRecord, place: SubjectPlace)? {
        byAccount.begin()
        byAccount.bind(id, to: selection.accountID)
        defer { byAccount.finish() }
        guard try byAccount.step() else { return nil }
        let place = SubjectPlace(
            rowID: try byAccount.required(selection.subject.common.id),
            digest: try byAccount.required(selection.subject.keyDigest))
        guard let subject = AppleSubject(try byAccount.required(selection.subject.common.subject)) else {
            throw StorageError(
                .corrupted,
                detail: "expected a sub in subject \(place.rowID), which has an account; restore a backup")
        }
        let team = try names.teams.name(of: byAccount.required(selection.subject.common.teamID))
        return (try read(byAccount, key: SubjectKey(team: team, subject: subject)), place)
    }

    /// Reads the current row and all rows that follow.
    private func read(_ row: PreparedStatement, key: SubjectKey) throws -> SubjectRecord {
        var record = try selection.subject.common.record(row, key: key)
        repeat { try selection.credential.add(row, to: &record, names) } while try row.step()
        return record
    }
}
