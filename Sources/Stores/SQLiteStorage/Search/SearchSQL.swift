/// The statements of searches. `:before` is the position of the page, `:limit` bounds the rows. Each has an
/// order that its index has.
///
/// SQLite uses a partial index only if the condition of the index stands in the statement.
enum SearchSQL {
    static let all = """
        SELECT id, account_id FROM subject WHERE account_id < :before AND account_id >= :first
        ORDER BY account_id DESC LIMIT :limit
        """
    static let email = """
        SELECT * FROM (
            SELECT id, account_id FROM subject
            WHERE email IS NOT NULL AND lower(email) = lower(:text) AND account_id < :before
            ORDER BY account_id DESC LIMIT :limit)
        UNION ALL
        SELECT * FROM (
            SELECT id, account_id FROM subject
            WHERE unsigned_email IS NOT NULL AND lower(unsigned_email) = lower(:text)
                AND account_id < :before
            ORDER BY account_id DESC LIMIT :limit)
        ORDER BY account_id DESC LIMIT :limit
        """
    static let firstName = """
        SELECT id, account_id FROM subject
        WHERE first_name IS NOT NULL AND lower(first_name) = lower(:text) AND account_id < :before
        ORDER BY account_id DESC LIMIT :limit
        """
    static let lastName = """
        SELECT id, account_id FROM subject
        WHERE last_name IS NOT NULL AND lower(last_name) = lower(:text) AND account_id < :before
        ORDER BY account_id DESC LIMIT :limit
        """
    static let account = """
        SELECT id, account_id FROM subject WHERE account_id = :id AND account_id < :before LIMIT :limit
        """
    static let subject = """
        SELECT s.id, s.account_id FROM team t CROSS JOIN subject s ON s.key_digest = key_digest(t.id, :sub)
        WHERE s.account_id < :before ORDER BY s.account_id DESC LIMIT :limit
        """
    static let grant = """
        SELECT s.id, s.account_id FROM oauth_grant g CROSS JOIN subject s ON s.account_id = g.account_id
        WHERE g.id = :grant AND s.account_id < :before LIMIT :limit
        """
    static let linked = """
        SELECT s.id, s.account_id
        FROM (
            SELECT DISTINCT account_id FROM oauth_grant WHERE account_id < :before
            ORDER BY account_id DESC LIMIT :limit) AS g
        CROSS JOIN subject s ON s.account_id = g.account_id ORDER BY s.account_id DESC
        """
    static let disabled = """
        SELECT subject_id FROM credential INDEXED BY credential_of_disabled
        WHERE disabled_until IS NOT NULL AND subject_id < :before ORDER BY subject_id DESC LIMIT :limit
        """
    static let revoked = """
        SELECT subject_id FROM credential INDEXED BY credential_by_revocation
        WHERE app_id = :app AND revoked_at IS NOT NULL AND subject_id < :before
        ORDER BY subject_id DESC LIMIT :limit
        """
    static let ofApp = """
        SELECT subject_id FROM credential INDEXED BY credential_by_app
        WHERE app_id = :app AND app_id > 0 AND subject_id < :before
        ORDER BY subject_id DESC LIMIT :limit
        """

    /// All statements, by name.
    static let statements: [(name: String, sql: String)] = [
        ("all", all), ("email", email), ("firstName", firstName), ("lastName", lastName),
        ("account", account), ("subject", subject), ("grant", grant), ("linked", linked),
        ("disabled", disabled), ("revoked", revoked), ("ofApp", ofApp),
    ]
}
