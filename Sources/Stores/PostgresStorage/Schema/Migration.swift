import SQLTables

/// One step of the schema. Never edited after release.
struct Migration: Sendable {
    /// 1 for the first migration, without gaps.
    let number: Int
    /// The oldest schema number that a running service may know and still work on this schema. As long as a
    /// migration only adds columns and tables that older services do not need, they continue while a newer
    /// service migrates.
    let minimumReader: Int
    let sql: String
}

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

extension Migration {
    /// Indexes in the whole order of the claims: with the time alone each claim sorted all rows that are due in one
    /// millisecond. The one by client ID passes over client IDs that rest.
    static let claimOrders = Migration(
        number: 3, minimumReader: 1,
        sql: """
            DROP INDEX authorization_code_by_attempt;
            CREATE INDEX authorization_code_by_attempt ON authorization_code (next_attempt_at, id);

            CREATE INDEX refresh_token_by_client ON refresh_token (client_id, next_check_at, account_id);

            DROP INDEX erasure_token_by_attempt;
            CREATE INDEX erasure_token_by_attempt ON erasure_token (next_attempt_at, id) WHERE step < 4;

            DROP INDEX app_attest_key_by_refresh;
            CREATE INDEX app_attest_key_by_refresh ON app_attest_key (receipt_refresh_at, key_id)
                WHERE receipt_refresh_at IS NOT NULL;
            """)
}
