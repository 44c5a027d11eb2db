import AppleAccounts
import AuthorizationServer
import SQLTables

/// Reads for introspection and the use cases of OAuth 2.0.
enum OAuthReader {
    /// Reads a token family with its grant, and the user with all credentials: one statement, so one
    /// snapshot.
    private struct FindStatus {
        let statement: TypedStatement<UniqueID>
        let family: OAuthTokenFamilyTable
        let grant: GrantColumns
        let subject: SubjectTable
        let credential: CredentialTable

        init() {
            var list = SelectList()
            family = list.add(OAuthTokenFamilyTable.self, as: "l")
            grant = GrantColumns(list.add(OAuthGrantTable.self, as: "g"))
            subject = list.add(SubjectTable.self, as: "s")
            credential = list.add(CredentialTable.self, as: "c", .factsOfApp)
            statement = TypedStatement("oauth_standing") {
                """
                SELECT \(list)
                FROM (SELECT \(OAuthTokenFamilyTable.names()) FROM oauth_token_family WHERE id = \($0)) AS l
                CROSS JOIN LATERAL (
                    SELECT \(OAuthGrantTable.names()) FROM oauth_grant WHERE id = l.grant_id OFFSET 0) AS g
                CROSS JOIN LATERAL (
                    SELECT \(SubjectTable.names()) FROM subject WHERE account_id = g.account_id OFFSET 0) AS s
                LEFT JOIN LATERAL (
                    SELECT \(CredentialTable.names(.factsOfApp)) FROM credential
                    WHERE subject_id = s.id OFFSET 0) AS c ON true
                """
            }
        }
    }

    private static let findStatus = FindStatus()

    static func status(ofFamily id: UniqueID, in session: PostgresSession) throws -> TokenStatus? {
        let rows = try session.run(findStatus.statement(id))
        guard let first = rows.first else { return nil }
        let grant = try findStatus.grant.record(first, session.names, in: session)
        let sub = try first.requiredSubject(findStatus.subject.subject)
        let team = try session.names.teams.name(of: first.required(findStatus.subject.teamID), in: session)
        var record = try findStatus.subject.record(first, key: SubjectKey(team: team, subject: sub))
        for row in rows { try findStatus.credential.add(row, to: &record, session.names, in: session) }
        guard let account = record.account else { return nil }
        return TokenStatus(
            family: try findStatus.family.record(first), grant: grant,
            status: AccountStatus(account: account, credential: record.record(for: grant.clientID)))
    }

    static func status(
        of account: AccountID, app: ClientID, in session: PostgresSession
    ) throws -> AccountStatus? {
        let record = try PostgresSubjects(names: session.names).find(account, in: session)?.record
        guard let record, let account = record.account else { return nil }
        return AccountStatus(account: account, credential: record.record(for: app))
    }
}
