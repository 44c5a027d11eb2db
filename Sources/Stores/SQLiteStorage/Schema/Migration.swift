import SQLTables

/// One schema step. It is never edited after a release; a later migration corrects its mistakes.
struct Migration: Sendable {
    /// The migration's number, counted from 1 without gaps.
    let number: Int
    /// True if the migration replaces tables, so that it must run without foreign keys. They are checked at
    /// its end.
    var rebuildsTables = false
    let sql: String
}

extension Migration {
    /// Adds the columns that let a client repeat the exchange of a refresh token, and limits the pace of
    /// new token families. Rebuilds the pace table, because SQLite cannot change a column's constraint.
    static let second = Migration(
        number: 2,
        sql: """
            \(OAuthTokenFamilyTable.adding(.retries, .sqlite))
            CREATE INDEX oauth_token_family_by_rotation ON oauth_token_family (rotated_at)
                WHERE previous_salt IS NOT NULL;
            CREATE INDEX oauth_token_family_by_retry ON oauth_token_family (rotated_at)
                WHERE earlier_tokens IS NOT NULL;
            CREATE TABLE new_pace (
                \(OAuthGrantPaceTable.schema(.sqlite)),
                PRIMARY KEY (account_id, oauth_client)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO new_pace (account_id, oauth_client, begun_at, count)
                SELECT account_id, oauth_client, begun_at, count FROM oauth_grant_pace;
            DROP TABLE oauth_grant_pace;
            ALTER TABLE new_pace RENAME TO oauth_grant_pace;
            CREATE INDEX oauth_grant_pace_by_begin ON oauth_grant_pace (begun_at);
            """)

    static let claimOrders = Migration(number: 3, sql: SharedSchema.claimOrders)
}
