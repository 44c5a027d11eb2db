import AppleAccounts
import GRDB
import SQLTables

/// Reads subjects with all their credentials: one indexed look-up, one row for each credential.
final class SubjectRows {
    /// The two statements with their parameters; the columns of both are the same.
    struct Selection {
        let byKey: String
        let digest: Parameter<KeyDigest>
        let credentialIDs: RangeParameters
        let byAccount: String
        let accountID: Parameter<AccountID>
        let byRow: String
        let rowID: Parameter<Int64>
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
            let credentials = "first_credential_id(s.key_digest) AND last_credential_id(s.key_digest)"
            byAccount = select("s.account_id = \(accountID)", credentialsBetween: credentials)
            var rowParameters = ParameterList()
            rowID = rowParameters.add(Int64.self)
            byRow = select(
                "s.id = \(rowID) AND s.account_id IS NOT NULL", credentialsBetween: credentials)
        }
    }

    private let names: Names
    private let selection: Selection
    private let byKey: PreparedStatement
    private let byAccount: PreparedStatement
    private let byRow: PreparedStatement
    private let tombstones: TombstoneRows

    init(_ names: Names, in database: Database) throws {
        self.names = names
        selection = Selection()
        byKey = try PreparedStatement(selection.byKey, in: database)
        byAccount = try PreparedStatement(selection.byAccount, in: database)
        byRow = try PreparedStatement(selection.byRow, in: database)
        tombstones = try TombstoneRows(in: database)
    }

    /// Returns a user's record, or the tombstone of an erased user.
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
        return try findOne(byAccount)
    }

    /// Returns the record of an account by the number of its row. `nil` for a row without an account.
    func find(rowID: Int64) throws -> SubjectRecord? {
        byRow.begin()
        byRow.bind(rowID, to: selection.rowID)
        return try findOne(byRow)?.record
    }

    private func findOne(
        _ statement: PreparedStatement
    ) throws -> (record: SubjectRecord, place: SubjectPlace)? {
        defer { statement.finish() }
        guard try statement.step() else { return nil }
        let place = SubjectPlace(
            rowID: try statement.required(selection.subject.common.id),
            digest: try statement.required(selection.subject.keyDigest))
        guard let subject = AppleSubject(try statement.required(selection.subject.common.subject)) else {
            throw StorageError(
                .corrupted,
                detail: "expected a sub in subject \(place.rowID), which has an account; restore a backup")
        }
        let team = try names.teams.name(of: statement.required(selection.subject.common.teamID))
        return (try read(statement, key: SubjectKey(team: team, subject: subject)), place)
    }

    /// Reads the current row, and all rows that follow.
    private func read(_ row: PreparedStatement, key: SubjectKey) throws -> SubjectRecord {
        var record = try selection.subject.common.record(row, key: key)
        repeat { try selection.credential.add(row, to: &record, names) } while try row.step()
        return record
    }
}
