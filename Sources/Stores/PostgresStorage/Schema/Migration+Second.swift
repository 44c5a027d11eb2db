import SQLTables

extension Migration {
    /// Exchanged refresh tokens that can be repeated, and the pace of new token families.
    static let second = Migration(
        number: 2, minimumReader: 1,
        sql: """
            \(OAuthTokenFamilyTable.adding(.retries))
            CREATE INDEX oauth_token_family_by_rotation ON oauth_token_family (rotated_at)
                WHERE previous_salt IS NOT NULL;
            CREATE INDEX oauth_token_family_by_retry ON oauth_token_family (rotated_at)
                WHERE earlier_tokens IS NOT NULL;
            \(OAuthGrantPaceTable.adding(.families))
            ALTER TABLE oauth_grant_pace DROP CONSTRAINT oauth_grant_pace_count_check,
                ADD CONSTRAINT oauth_grant_pace_count_check CHECK (count >= 0);
            """)
}
