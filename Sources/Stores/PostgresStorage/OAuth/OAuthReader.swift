import AppleAccounts
import AuthorizationServer
import SQLTables

/// Queries for introspection and for the OAuth 2.0 use cases.
enum OAuthReader {
    /// Reads a token family with its grant, and the user with all credentials, in one statement and therefore
    /// in one snapshot.
    private static let findStatus = TypedQuery<
        (family: OAuthTokenFamilyTable, grant: GrantColumns, user: UserColumns), UniqueID
    >("oauth_standing") {
        (
            $0.add(OAuthTokenFamilyTable.self, as: "l"), GrantColumns($0.add(OAuthGrantTable.self, as: "g")),
            UserColumns(&$0)
        )
    } sql: { list, id in
        """
        SELECT \(list)
        FROM (SELECT \(OAuthTokenFamilyTable.names()) FROM oauth_token_family WHERE id = \(id)) AS l
        CROSS JOIN LATERAL (
            SELECT \(OAuthGrantTable.names()) FROM oauth_grant WHERE id = l.grant_id OFFSET 0) AS g
        \(UserColumns.joined(where: "account_id = g.account_id"))
        """
    }

    static func status(ofFamily id: UniqueID, in session: PostgresSession) throws -> TokenStatus? {
        let rows = try session.run(findStatus.statement(id))
        guard let first = rows.first else { return nil }
        let columns = findStatus.columns
        let grant = try columns.grant.record(first, session.names, in: session)
        var record = try columns.user.record(first, session.names, in: session)
        for row in rows { try columns.user.credential.add(row, to: &record, session.names, in: session) }
        let family = try columns.family.record(first)
        return record.status(for: grant.clientID).map {
            TokenStatus(family: family, grant: grant, status: $0)
        }
    }
}
