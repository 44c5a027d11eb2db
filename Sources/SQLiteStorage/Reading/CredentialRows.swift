import AppleAccounts
import GRDB

/// Reads what counts for one subject and one app, and nothing else: the state query's hot path.
final class CredentialRows {
    private let names: Names
    private let find: PreparedStatement

    init(_ names: Names, in database: Database) throws {
        self.names = names
        find = try PreparedStatement(
            """
            SELECT c.authorized_at, c.authorized_source, c.revoked_at, c.revoked_reason, c.revoked_source,
                s.revoked_at, s.revoked_reason, s.revoked_source
            FROM subject s LEFT JOIN credential c ON c.subject_id = s.id AND c.app_id = ?2
            WHERE s.team_id = ?1 AND s.sub = ?3
            """, in: database)
    }

    func records(team: TeamID, clientID: ClientID, subjects: [AppleSubject]) throws -> [CredentialRecord] {
        guard let teamNumber = try names.teams.number(of: team) else {
            return subjects.map { _ in CredentialRecord() }
        }
        // An app without number has no credential; a revocation of all apps holds for it too.
        let appNumber = try names.apps.number(of: clientID) ?? 0
        return try subjects.map { subject in
            find.begin()
            find.bind(teamNumber, at: 1)
            find.bind(appNumber, at: 2)
            find.bind(subject.rawValue, at: 3)
            defer { find.finish() }
            guard try find.step() else { return CredentialRecord() }
            return CredentialRecord(
                authorization: try Authorization(find, at: 0), revocation: try Revocation(find, at: 2)
            ).merged(with: try Revocation(find, at: 5))
        }
    }
}
