import AppleAccounts
import GRDB
import SQLTables

/// Reads one subject's state for one app, for the state query. It looks up the user's few credentials, which
/// are adjacent, and reads nothing else if it finds any.
final class CredentialRows {
    /// The statement with its parameters and columns.
    struct Selection {
        let sql: String
        let ids: RangeParameters
        let check: Parameter<Int64>
        let columns: CredentialTable

        init() {
            var parameters = ParameterList()
            (ids, check) = (parameters.addRange(), parameters.add(Int64.self))
            var list = SelectList()
            columns = list.add(CredentialTable.self, .state)
            sql = "SELECT \(list) FROM credential WHERE id BETWEEN \(ids) AND key_check = \(check)"
        }
    }

    private let names: Names
    private let selection: Selection
    private let find: PreparedStatement
    private let tombstones: TombstoneRows

    init(_ names: Names, in database: Database) throws {
        self.names = names
        selection = Selection()
        find = try PreparedStatement(selection.sql, in: database)
        tombstones = try TombstoneRows(in: database)
    }

    func find(team: TeamID, clientID: ClientID, subjects: [AppleSubject]) throws -> [Credential] {
        guard let teamNumber = try names.teams.number(of: team) else {
            return subjects.map { _ in Credential(clientID: clientID, record: CredentialRecord()) }
        }
        // An app without a number has no credential, but a revocation of all apps applies to it too.
        let appNumber = try names.apps.number(of: clientID)
        return try subjects.map { subject in
            let key = SubjectKey(team: team, subject: subject)
            return try find(key, team: teamNumber, clientID: clientID, app: appNumber)
        }
    }

    func find(team: TeamID, clientID: ClientID, subject: AppleSubject) throws -> Credential {
        guard let teamNumber = try names.teams.number(of: team) else {
            return Credential(clientID: clientID, record: CredentialRecord())
        }
        return try find(
            SubjectKey(team: team, subject: subject), team: teamNumber, clientID: clientID,
            app: try names.apps.number(of: clientID))
    }

    private func find(
        _ key: SubjectKey, team: Int64, clientID: ClientID, app appNumber: Int64?
    ) throws -> Credential {
        let digest = KeyDigest(team: team, name: key.subject.rawValue)
        find.begin()
        find.bind(digest.credentialIDs, to: selection.ids)
        find.bind(digest.check, to: selection.check)
        defer { find.finish() }
        var record = CredentialRecord()
        var refreshToken: RefreshTokenStatus?
        var disabledUntil: Moment?
        var (isFound, isOwnFound) = (false, false)
        while try find.step() {
            isFound = true
            guard let app = find[selection.columns.appID], app == AppTable.allApps || app == appNumber
            else { continue }
            record.merge(try selection.columns.record(find))
            if app == AppTable.allApps {
                disabledUntil = find[selection.columns.disabledUntil]
            } else {
                isOwnFound = true
                refreshToken = try selection.columns.refreshTokenStatus(find)
            }
        }
        // The two statements share no snapshot, which is acceptable because each result was true at some
        // time.
        guard isFound else {
            let left = try tombstones.find(key, team: team)?.record
            return Credential(clientID: clientID, record: left?.record(for: clientID) ?? record)
        }
        return Credential(
            clientID: clientID, record: record, refreshToken: refreshToken,
            disabledUntil: isOwnFound ? disabledUntil : nil)
    }
}

/// Finds an erased user's tombstone. Used only if the user has no row.
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
