public import AppleAccounts

/// An audit log that begins with more rows of the future than a purge searches, and has an old row behind them.
public enum FutureAudit {
    private static let future = AuditPurge.largestStep + AuditPurge.farthestSearch
    private static let ahead: Moment = 9_000_000_000

    /// Appends the rows that `statements` multiply.
    public static func begin(in store: some AuditStore) async throws {
        try await store.appendAudit([
            AuditEntry(.consoleShow, by: .service, at: ahead),
            AuditEntry(.consoleShow, by: .service, at: 1000),
        ])
    }

    /// SQL for both databases. The hashes are wrong, which a purge does not look at.
    public static let statements = """
        UPDATE audit SET sequence = \(future + 1) WHERE sequence = 2;
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(future - 1))
        INSERT INTO audit (sequence, recorded_at, actor_kind, action, outcome, hash)
        SELECT sequence + i, recorded_at, actor_kind, action, outcome, hash
        FROM audit CROSS JOIN n WHERE sequence = 1;
        UPDATE audit_chain SET last_sequence = \(future + 1) WHERE id = 1;
        """

    /// Brings the old row into the reach of the search.
    public static let shortening = "DELETE FROM audit WHERE sequence = 1;"

    /// Returns the number of rows that a step deletes.
    public static func purge(_ store: some AuditStore) async throws -> Int {
        try await store.purgeAudit(before: 6000, at: 100_000)
    }
}
