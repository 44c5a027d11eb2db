import SQLTables

/// One step of the schema. Once released it is never edited: a later migration corrects its mistakes.
struct Migration: Sendable {
    /// Counts from 1 without gaps.
    let number: Int
    /// Indicates that the migration replaces tables, and therefore must run without foreign keys. They are
    /// checked at its end.
    var rebuildsTables = false
    let sql: String
}

extension Migration {
    /// Exchanged refresh tokens that can be repeated, and the pace of new token families. The paces' table is
    /// made anew, because SQLite cannot change the constraint of a column.
    static let second = Migration(
        number: 2,
        sql: """
            \(OAuthTokenFamilyTable.adding(.retries))
            CREATE INDEX oauth_token_family_by_rotation ON oauth_token_family (rotated_at)
                WHERE previous_salt IS NOT NULL;
            CREATE INDEX oauth_token_family_by_retry ON oauth_token_family (rotated_at)
                WHERE earlier_tokens IS NOT NULL;
            CREATE TABLE new_pace (
                \(OAuthGrantPaceTable.schema),
                PRIMARY KEY (account_id, oauth_client)
            ) STRICT, WITHOUT ROWID;
            INSERT INTO new_pace (account_id, oauth_client, begun_at, count)
                SELECT account_id, oauth_client, begun_at, count FROM oauth_grant_pace;
            DROP TABLE oauth_grant_pace;
            ALTER TABLE new_pace RENAME TO oauth_grant_pace;
            CREATE INDEX oauth_grant_pace_by_begin ON oauth_grant_pace (begun_at);
            """)
}

extension Migration {
    /// Indexes in the whole order of the claims: with the time alone each claim sorted all rows that are due in one
    /// millisecond. The one by client ID passes over client IDs that rest.
    static let claimOrders = Migration(
        number: 3,
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
