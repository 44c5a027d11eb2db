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
