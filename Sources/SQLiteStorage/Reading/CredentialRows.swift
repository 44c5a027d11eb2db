import AppleAccounts
import GRDB

/// Reads what counts for one subject and one app: the state query's hot path. It goes straight to the few credentials
/// of the person, which stand together, and reads nothing else of whoever has some.
final class CredentialRows {
    static let selection = """
        SELECT app_id, authorized_at, authorized_source, revoked_at, revoked_reason, revoked_source,
            refresh_token, refresh_token_cause
        FROM credential WHERE id BETWEEN ?1 AND ?2 AND key_check = ?3
        """

    private let names: Names
    private let find: PreparedStatement
    private let tombstones: TombstoneRows

    init(_ names: Names, in database: Database) throws {
        self.names = names
        find = try PreparedStatement(Self.selection, in: database)
        tombstones = try TombstoneRows(in: database)
    }

    func find(team: TeamID, clientID: ClientID, subjects: [AppleSubject]) throws -> [Credential] {
        guard let teamNumber = try names.teams.number(of: team) else {
            return subjects.map { _ in Credential(clientID: clientID, record: CredentialRecord()) }
        }
        // An app without number has no credential; a revocation of all apps holds for it too.
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
        find.bind(digest.credentialIDs, at: 1)
        find.bind(digest.check, at: 3)
        defer { find.finish() }
        var record = CredentialRecord()
        var refreshToken: RefreshTokenStatus?
        var isFound = false
        while try find.step() {
            isFound = true
            guard let app = find.integer(0), app == Names.allApps || app == appNumber else { continue }
            record.merge(
                CredentialRecord(
                    authorization: try Authorization(find, at: 1), revocation: try Revocation(find, at: 3)))
            if app == appNumber {
                refreshToken = try RefreshTokenStatus(storageCode: find.integer(6), cause: find.integer(7))
            }
        }
        // Where no snapshot is held between the two statements, each of the answers was true at one moment.
        guard isFound else {
            let left = try tombstones.find(key, team: team)?.record
            return Credential(clientID: clientID, record: left?.record(for: clientID) ?? record)
        }
        return Credential(clientID: clientID, record: record, refreshToken: refreshToken)
    }
}
