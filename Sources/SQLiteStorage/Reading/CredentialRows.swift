import AppleAccounts
import GRDB

/// Reads what counts for one subject and one app: the state query's hot path. It finds the subject in an
/// index and reads the few credentials that stand together, and not the subject's wide row.
final class CredentialRows {
    private let names: Names
    private let find: PreparedStatement

    init(_ names: Names, in database: Database) throws {
        self.names = names
        find = try PreparedStatement(
            """
            SELECT c.app_id, c.authorized_at, c.authorized_source, c.revoked_at, c.revoked_reason,
                c.revoked_source
            FROM subject s JOIN credential c ON c.subject_id = s.id
            WHERE s.team_id = ?1 AND s.sub = ?2
            """, in: database)
    }

    func find(team: TeamID, clientID: ClientID, subjects: [AppleSubject]) throws -> [Credential] {
        guard let teamNumber = try names.teams.number(of: team) else {
            return subjects.map { _ in Credential(clientID: clientID, record: CredentialRecord()) }
        }
        // An app without number has no credential; a revocation of all apps holds for it too.
        let appNumber = try names.apps.number(of: clientID)
        return try subjects.map { subject in
            find.begin()
            find.bind(teamNumber, at: 1)
            find.bind(subject.rawValue, at: 2)
            var record = CredentialRecord()
            while try find.step() {
                guard let app = find.integer(0), app == Names.allApps || app == appNumber else { continue }
                record.merge(
                    CredentialRecord(
                        authorization: try Authorization(find, at: 1), revocation: try Revocation(find, at: 3)
                    ))
            }
            return Credential(clientID: clientID, record: record)
        }
    }
}
