import SQLTables

/// One schema step. It is never edited after a release.
struct Migration: Sendable {
    /// The migration's number: 1 for the first, without gaps.
    let number: Int
    /// The lowest schema version that a running service must support to use this schema. As long as a
    /// migration only adds columns and tables that older services do not need, older services keep running
    /// while a newer service migrates.
    let minimumReader: Int
    let sql: String
}

extension Migration {
    /// Adds exchanged refresh tokens that can be repeated, and the pace of new token families.
    static let second = Migration(
        number: 2, minimumReader: 1,
        sql: """
            \(OAuthTokenFamilyTable.adding(.retries, .postgres))
            CREATE INDEX oauth_token_family_by_rotation ON oauth_token_family (rotated_at)
                WHERE previous_salt IS NOT NULL;
            CREATE INDEX oauth_token_family_by_retry ON oauth_token_family (rotated_at)
                WHERE earlier_tokens IS NOT NULL;
            \(OAuthGrantPaceTable.adding(.families, .postgres))
            ALTER TABLE oauth_grant_pace DROP CONSTRAINT oauth_grant_pace_count_check,
                ADD CONSTRAINT oauth_grant_pace_count_check CHECK (count >= 0);
            """)

    static let claimOrders = Migration(number: 3, minimumReader: 1, sql: SharedSchema.claimOrders)
}
