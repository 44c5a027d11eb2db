import AppleAccounts
import AuthorizationServer
import Cryptography
import GRDB
import SQLTables

/// A reading connection's OAuth 2.0 statements, prepared at first use. Must stay on the connection's queue.
final class OAuthReader {
    let statuses: TokenStatusRows
    let held: StoredGrantRows

    init(_ names: Names, in database: Database) throws {
        statuses = try TokenStatusRows(names, in: database)
        held = try StoredGrantRows(names, in: database)
    }
}

/// Reads a token family with its grant, and the user with all credentials, for introspection. It uses one
/// statement, so it can run on the caller's thread and sees one snapshot.
final class TokenStatusRows {
    private typealias Columns = (
        family: OAuthTokenFamilyTable, grant: GrantColumns, subject: SubjectTable, credential: CredentialTable
    )

    private let names: Names
    private let find: KeyedSelect<UniqueID, Columns>

    init(_ names: Names, in database: Database) throws {
        self.names = names
        find = try KeyedSelect(in: database) {
            (
                $0.add(OAuthTokenFamilyTable.self, as: "l"),
                GrantColumns($0.add(OAuthGrantTable.self, as: "g")),
                $0.add(SubjectTable.self, as: "s"), $0.add(CredentialTable.self, as: "c", .factsOfApp)
            )
        } sql: {
            """
            SELECT \($0)
            FROM oauth_token_family l CROSS JOIN oauth_grant g ON g.id = l.grant_id
            CROSS JOIN subject s ON s.account_id = g.account_id
            LEFT JOIN credential c
                ON c.id BETWEEN first_credential_id(s.key_digest) AND last_credential_id(s.key_digest)
                    AND +c.subject_id = s.id
            WHERE l.id = \($1)
            """
        }
    }

    func find(_ id: UniqueID) throws -> TokenStatus? {
        try find.first(id) { columns, row in
            let (family, grant) = (try columns.family.record(row), try columns.grant.record(row, names))
            let key = SubjectKey(
                team: try names.teams.name(of: row.required(columns.subject.teamID)),
                subject: try row.requiredSubject(columns.subject.subject))
            var record = try columns.subject.record(row, key: key)
            repeat { try columns.credential.add(row, to: &record, names) } while try row.step()
            return record.status(for: grant.clientID).map {
                TokenStatus(family: family, grant: grant, status: $0)
            }
        } ?? nil
    }
}
