import AppleAccounts
import CLibPQ
import SQLTables

/// Settings of every session before its first use.
enum SessionSettings {
    /// Apply unless the URL, the role or the database sets another value.
    private static let defaults: [(String, String)] = [
        // No request waits longer than its caller.
        ("statement_timeout", "5s"),
        ("lock_timeout", "3s"),
        // A replica that hangs in the middle of a transaction must not hold its locks.
        ("idle_in_transaction_session_timeout", "10s"),
        // The server ends a waiting statement of a replica that was killed.
        ("client_connection_check_interval", "2s"),
        // Compiling a statement takes longer than any of ours runs.
        ("jit", "off"),
        // Every statement of ours looks up few rows by an index. A plan made while a table was empty must not
        // remain a sequential scan when the table has a million rows.
        ("plan_cache_mode", "force_generic_plan"),
        ("enable_seqscan", "off"),
        ("enable_hashjoin", "off"),
        ("enable_mergejoin", "off"),
        // A batch names each row once, so a cached look-up is never used again.
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
    /// Stricter settings (remote_apply) stay.
    private static let makeDurable = PostgresCall(
        PostgresStatement(
            "make_durable",
            """
            SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') = 'off'
            """))

    private static let readOnly = PostgresCall(
        PostgresStatement("only_read", "SET default_transaction_read_only = on"))

    private struct Read {
        let call: PostgresCall
        let timeout: Column<Int64>
        let synchronousCommit: Column<String>
        let schema: Column<String>
        let process: Column<Int64>
        let began: Column<Int64>

        init() {
            var list = SelectList()
            timeout = list.add("found.setting::bigint", Int64.self, as: "timeout")
            synchronousCommit = list.add(
                "current_setting('synchronous_commit')", String.self, as: "synchronous_commit")
            schema = list.add("current_schema()::text", String.self, as: "schema")
            process = list.add("pg_backend_pid()::bigint", Int64.self, as: "process")
            began = list.add(
                """
                (SELECT \(Backend.began("backend_start")) FROM pg_stat_activity
                    WHERE pid = pg_backend_pid())
                """, Int64.self, as: "began")
            call = PostgresCall(
                PostgresStatement(
                    "read_settings",
                    "SELECT \(list) FROM pg_settings AS found WHERE found.name = 'statement_timeout'"))
        }
    }

    private static let read = Read()

    /// - Throws: `StorageError` `migrationFailed` for a database that the service cannot use as it is.
    static func apply(to session: PostgresSession, for purpose: SessionPurpose) throws {
        try ServerKind.requirePostgres(session)
        // Any other encoding would store our UTF-8 unchecked, or could not store it.
        let encoding = session.parameter("server_encoding") ?? ""
        guard encoding == "UTF8" else {
            throw StorageError(.migrationFailed, detail: "the database's encoding is \(encoding), not UTF8")
        }
        do {
            _ = try session.pipeline([apply(defaults.map(\.0), defaults.map(\.1)), makeDurable])
        } catch let error as PostgresError where error.hasStaleStatements {
            // A new session has prepared nothing.
            throw PoolerMode.unusable
        }
        guard let found = try session.run(read.call).first, let timeout = found[read.timeout],
            found[read.synchronousCommit] != "off"
        else {
            throw StorageError(.migrationFailed, detail: "synchronous_commit cannot be switched on")
        }
        guard found[read.schema] != nil else {
            throw StorageError(.migrationFailed, detail: "search_path names no schema that exists")
        }
        if let process = found[read.process], let began = found[read.began] {
            session.backend = Backend(process: process, began: began)
        }
        if purpose == .inspection { _ = try session.run(readOnly) }
        session.deadlines = SessionDeadlines(statementTimeout: timeout)
    }
}

/// Purpose of a connection.
enum SessionPurpose: Sendable {
    case service
    /// The server itself refuses writes.
    case inspection
}
