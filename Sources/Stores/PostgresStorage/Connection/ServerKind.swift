import AppleAccounts

/// Detects servers that speak PostgreSQL's protocol and are other software.
///
/// A user without a row is locked by an advisory lock. CockroachDB accepts such a lock and ignores it: two
/// replicas would create two accounts for one user and accept a nonce twice, and nothing would report it.
enum ServerKind {
    /// Words in `version()` of servers that call themselves PostgreSQL and have only parts of it.
    private static let otherProducts = [
        (word: "-YB-", name: "YugabyteDB"), (word: "Redshift", name: "Amazon Redshift"),
        (word: "Greenplum", name: "Greenplum"), (word: "Materialize", name: "Materialize"),
        (word: "RisingWave", name: "RisingWave"), (word: "QuestDB", name: "QuestDB"),
    ]

    /// SQLSTATEs of servers whose `version()` is that of PostgreSQL, and that have no advisory locks:
    /// `feature_not_supported` and `undefined_function`.
    private static let lockless = ["0A000", "42883"]

    private static let version = PostgresCall(PostgresStatement("read_version", "SELECT version()::text"))
    private static let lock = TypedStatement<Int64>("hold_trial_lock") { key in
        "SELECT pg_advisory_lock(\(key)) IS NULL"
    }
    private static let tryLock = TypedStatement<Int64>("try_trial_lock") { key in
        "SELECT pg_try_advisory_lock(\(key))"
    }
    private static let unlock = TypedStatement<Int64>("release_trial_lock") { key in
        "SELECT pg_advisory_unlock(\(key))"
    }

    /// Must come before all other statements of a session, which rely on PostgreSQL's types and settings.
    ///
    /// - Throws: `StorageError` `migrationFailed` with the name of the software; `PostgresError`.
    static func requirePostgres(_ session: PostgresSession) throws {
        do {
            let text = try session.run(version).onlyValue(as: String.self) ?? ""
            if let name = otherProduct(in: text) { throw unusable("found \(name)") }
        } catch let error as PostgresError where error.hasStaleStatements {
            // Another client of a pooler has prepared the same name: it is PostgreSQL.
            throw PoolerMode.unusable
        }
    }

    /// Checks with two sessions that an advisory lock of one keeps the other one out.
    ///
    /// - Throws: `StorageError` `migrationFailed`; `PostgresError`.
    static func requireLocks(_ session: PostgresSession, _ url: PostgresURL) throws {
        // Replicas that start at the same time have different numbers.
        let key = Int64.random(in: .min ... .max)
        let other = PostgresSession(try url.connect())
        do {
            _ = try session.run(lock(key))
            defer { _ = try? session.run(unlock(key)) }
            guard try other.run(tryLock(key)).onlyValue(as: Bool.self) == false else {
                throw unusable("found a server that gives one advisory lock to two sessions")
            }
        } catch let error as PostgresError where lockless.contains(error.sqlState) {
            throw unusable("found a server without advisory locks (\(error.sqlState))")
        }
    }

    /// Returns the name of the software if `version()` is not of PostgreSQL itself, or of a managed service
    /// that runs PostgreSQL.
    static func otherProduct(in version: String) -> String? {
        if let product = otherProducts.first(where: { version.contains($0.word) }) { return product.name }
        guard !version.hasPrefix("PostgreSQL "), !version.hasPrefix("EnterpriseDB ") else { return nil }
        guard let name = version.split(separator: " ").first else { return "a server without a version" }
        // The text is of a server that is not known, and goes to the log.
        let visible = name.unicodeScalars.prefix(64).filter { $0.isASCII && $0.value > 0x20 }
        return String(String.UnicodeScalarView(visible))
    }

    private static func unusable(_ found: String) -> StorageError {
        StorageError(
            .migrationFailed,
            detail: "expected a PostgreSQL server, \(found); siwa needs advisory locks, NOTIFY and row locks "
                + "as PostgreSQL has them: use PostgreSQL 13 or newer")
    }
}
