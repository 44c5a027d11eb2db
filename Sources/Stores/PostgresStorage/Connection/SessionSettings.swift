import AppleAccounts
import CLibPQ
import SQLTables

/// Settings that every session gets before its first use.
enum SessionSettings {
    /// Defaults that apply unless the URL, the role or the database sets another value.
    private static let defaults: [(String, String)] = [
        // A request must not outlast its caller.
        ("statement_timeout", "5s"),
        ("lock_timeout", "3s"),
        // A replica that hangs in the middle of a transaction must not keep its locks.
        ("idle_in_transaction_session_timeout", "10s"),
        // With this setting, the server ends a waiting statement whose replica was killed.
        ("client_connection_check_interval", "2s"),
        // Compiling a statement takes longer than running any of the service's statements.
        ("jit", "off"),
        // All of the service's statements look up few rows by an index, so a plan made while a table was
        // empty must not remain a sequential scan once the table has a million rows.
        ("plan_cache_mode", "force_generic_plan"),
        ("enable_seqscan", "off"),
        ("enable_hashjoin", "off"),
        ("enable_mergejoin", "off"),
        // A batch names each row once, so a cached look-up would never be reused.
        ("enable_memoize", "off"),
    ]

    private static let apply = TypedStatement<[String], [String]>("apply_settings") { names, values in
        """
        SELECT set_config(wanted.name, wanted.value, false)
        FROM unnest(\(names), \(values)) AS wanted (name, value)
        JOIN pg_settings AS found ON found.name = wanted.name
        WHERE found.source NOT IN ('client', 'user', 'database', 'database user')
        """
    }

    /// Makes commits durable, even if the server, the role or the database sets synchronous_commit to off.
    /// Stricter settings (remote_apply) are kept.
    private static let makeDurable = PostgresCall(
        PostgresStatement(
            "make_durable",
            """
            SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') = 'off'
            """))

    private static let readOnly = PostgresCall(
        PostgresStatement("only_read", "SET default_transaction_read_only = on"))

    private static let read = TypedQuery<
        (
            timeout: Column<Int64>, synchronousCommit: Column<String>, schema: Column<String>,
            process: Column<Int64>, began: Column<Int64>
        )
    >("read_settings") {
        (
            $0.add("found.setting::bigint", Int64.self, as: "timeout"),
            $0.add("current_setting('synchronous_commit')", String.self, as: "synchronous_commit"),
            $0.add("current_schema()::text", String.self, as: "schema"),
            $0.add("pg_backend_pid()::bigint", Int64.self, as: "process"),
            $0.add(
                """
                (SELECT \(Backend.began("backend_start")) FROM pg_stat_activity
                    WHERE pid = pg_backend_pid())
                """, Int64.self, as: "began")
        )
    } sql: {
        "SELECT \($0) FROM pg_settings AS found WHERE found.name = 'statement_timeout'"
    }

    /// - Throws: `StorageError` `migrationFailed` for a database that the service cannot use as it is
    ///   configured.
    static func apply(to session: PostgresSession, for purpose: SessionPurpose) throws {
        try ServerKind.requirePostgres(session)
        // A server with another encoding would store UTF-8 unchecked, or could not store it.
        let encoding = session.parameter("server_encoding") ?? ""
        guard encoding == "UTF8" else {
            throw StorageError(.migrationFailed, detail: "the database's encoding is \(encoding), not UTF8")
        }
        do {
            _ = try session.pipeline([apply(defaults.map(\.0), defaults.map(\.1)), makeDurable])
        } catch let error as PostgresError where error.hasStaleStatements {
            // A new session has prepared nothing yet, so a duplicate name belongs to another client.
            throw PoolerMode.unusable
        }
        let columns = read.columns
        guard let found = try session.run(read.statement()).first, let timeout = found[columns.timeout],
            found[columns.synchronousCommit] != "off"
        else {
            throw StorageError(.migrationFailed, detail: "synchronous_commit cannot be switched on")
        }
        guard found[columns.schema] != nil else {
            throw StorageError(.migrationFailed, detail: "search_path names no schema that exists")
        }
        if let process = found[columns.process], let began = found[columns.began] {
            session.backend = Backend(process: process, began: began)
        }
        if purpose == .inspection { _ = try session.run(readOnly) }
        session.deadlines = SessionDeadlines(statementTimeout: timeout)
    }
}

/// The purpose of a connection.
enum SessionPurpose: Sendable {
    case service
    /// Reads only. The server itself refuses this session's writes.
    case inspection
}

/// Detects a pooler between this process and the server that shares connections between clients (PgBouncer's
/// `pool_mode`).
///
/// The service needs a pooler that assigns each client its own connection, because prepared statements,
/// `LISTEN` and the settings that make writes durable all belong to the session. With other modes the service
/// works at first, and then fails when two sessions share one connection.
enum PoolerMode {
    static let unusable = StorageError(
        .migrationFailed,
        detail: "expected a connection of its own for each session, found a pooler that shares them, such as "
            + "PgBouncer with pool_mode = transaction or statement; set pool_mode = session, or connect to "
            + "PostgreSQL itself")

    private static let process = PostgresCall(
        PostgresStatement("find_pooler", "SELECT pg_backend_pid()::bigint"))

    /// Number of comparisons. A single comparison is not enough, because another client may be using the
    /// shared connection at that moment.
    private static let looks = 5

    /// Compares the server processes of two sessions that are open at the same time. Two sessions with
    /// separate connections always have different processes.
    ///
    /// - Throws: `unusable`; `PostgresError`.
    static func requireSessions(_ session: PostgresSession, _ url: PostgresURL) throws {
        // Without a pooler, both numbers are the same, so nothing needs to be compared.
        guard let backend = session.backend, session.announcedProcess != backend.process else { return }
        for _ in 0..<looks {
            let other = PostgresSession(try url.connect())
            do {
                let mine = try session.run(process).onlyValue(as: Int64.self)
                let others = try other.run(process).onlyValue(as: Int64.self)
                if mine == others { throw unusable }
            } catch let error as PostgresError where error.hasStaleStatements {
                throw unusable
            }
        }
    }
}

/// Detects other software that speaks PostgreSQL's protocol.
///
/// A user without a row is locked by an advisory lock. CockroachDB accepts such a lock and ignores it, so two
/// replicas would create two accounts for one user and accept a nonce twice, without any error.
enum ServerKind {
    /// Words in `version()` from servers that call themselves PostgreSQL but implement only parts of it.
    private static let otherProducts = [
        (word: "-YB-", name: "YugabyteDB"), (word: "Redshift", name: "Amazon Redshift"),
        (word: "Greenplum", name: "Greenplum"), (word: "Materialize", name: "Materialize"),
        (word: "RisingWave", name: "RisingWave"), (word: "QuestDB", name: "QuestDB"),
    ]

    /// SQLSTATEs from servers that return PostgreSQL's `version()` but have no advisory locks:
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

    /// Throws unless the server is PostgreSQL. Must run before a session's other statements, because they
    /// rely on PostgreSQL's types and settings.
    ///
    /// - Throws: `StorageError` `migrationFailed` with the software's name; `PostgresError`.
    static func requirePostgres(_ session: PostgresSession) throws {
        do {
            let text = try session.run(version).onlyValue(as: String.self) ?? ""
            if let name = otherProduct(in: text) { throw unusable("found \(name)") }
        } catch let error as PostgresError where error.hasStaleStatements {
            // Another client of a pooler has prepared the same name, so the server is PostgreSQL.
            throw PoolerMode.unusable
        }
    }

    /// Uses two sessions to check that an advisory lock held by the first excludes the second.
    ///
    /// - Throws: `StorageError` `migrationFailed`; `PostgresError`.
    static func requireLocks(_ session: PostgresSession, _ url: PostgresURL) throws {
        // The number is random, so that replicas that start at the same time use different locks.
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

    /// Returns the software's name if `version()` comes neither from PostgreSQL itself nor from a managed
    /// service that runs PostgreSQL.
    static func otherProduct(in version: String) -> String? {
        if let product = otherProducts.first(where: { version.contains($0.word) }) { return product.name }
        guard !version.hasPrefix("PostgreSQL "), !version.hasPrefix("EnterpriseDB ") else { return nil }
        guard let name = version.split(separator: " ").first else { return "a server without a version" }
        // The text comes from an unknown server and goes to the log, so it is shortened and reduced to
        // printable ASCII.
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
