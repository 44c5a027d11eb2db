import AppleAccounts
import GRDB

/// Reads what counts for one subject and one app: the state query's hot path. It finds the subject in an
/// index and reads the few credentials that stand together, and not the subject's wide row.
final class CredentialRows {
    private let names: Names
    private let find: PreparedStatement
    private let tombstones: TombstoneRows

    init(_ names: Names, in database: Database) throws {
        self.names = names
        find = try PreparedStatement(
            """
            SELECT c.app_id, c.authorized_at, c.authorized_source, c.revoked_at, c.revoked_reason,
                c.revoked_source, c.refresh_token, c.refresh_token_cause
            FROM subject s JOIN credential c ON c.subject_id = s.id
            WHERE s.key_digest = ?1
            """, in: database)
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
        find.begin()
        find.bind(KeyDigest.make(team: team, name: key.subject.rawValue), at: 1)
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
