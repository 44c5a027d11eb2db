import AppleAccounts
import CLibPQ

/// What every session is set to before it is used.
enum SessionSettings {
    /// Apply unless the URL, the role or the database says otherwise.
    private static let defaults: [(String, String)] = [
        // No request waits longer than its caller.
        ("statement_timeout", "5s"),
        ("lock_timeout", "3s"),
        // A replica that hangs in the middle of a transaction must not hold its locks.
        ("idle_in_transaction_session_timeout", "10s"),
        // A replica that was killed lets go of what its statement waits for.
        ("client_connection_check_interval", "2s"),
        // To compile a statement takes longer than any of ours runs.
        ("jit", "off"),
        // Every statement of ours looks up few rows by an index. A plan that was made while a table was empty
        // must not stay a walk through all of it when it has a million rows.
        ("plan_cache_mode", "force_generic_plan"),
        ("enable_seqscan", "off"),
        ("enable_hashjoin", "off"),
        ("enable_mergejoin", "off"),
    ]

    private static let apply = PostgresStatement(
        "apply_settings",
        """
        SELECT set_config(wanted.name, wanted.value, false)
        FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
        JOIN pg_settings AS found ON found.name = wanted.name
        WHERE found.source NOT IN ('client', 'user', 'database', 'database user')
        """)

    /// What is promised as durable is durable, whoever set what. Stricter ways (remote_apply) stay.
    private static let makeDurable = PostgresStatement(
        "make_durable",
        """
        SELECT set_config('synchronous_commit', 'on', false)
        WHERE current_setting('synchronous_commit') = 'off'
        """)

    private static let readOnly = PostgresCall(
        PostgresStatement("only_read", "SET default_transaction_read_only = on"))

    private static let read = PostgresStatement(
        "read_settings",
        """
        SELECT found.setting::bigint, current_setting('synchronous_commit'), current_schema()::text
        FROM pg_settings AS found WHERE found.name = 'statement_timeout'
        """)

    /// - Throws: `StorageError` `migrationFailed` for a database that the service cannot use as it is.
    static func apply(to session: PostgresSession, for purpose: SessionPurpose) throws {
        // Any other would keep what we say is UTF-8 unchecked, or could not keep it.
        let encoding = session.parameter("server_encoding") ?? ""
        guard encoding == "UTF8" else {
            throw StorageError(.migrationFailed, detail: "the database's encoding is \(encoding), not UTF8")
        }
        let names = PostgresValue.texts(defaults.map(\.0))
        let values = PostgresValue.texts(defaults.map(\.1))
        _ = try session.pipeline([PostgresCall(apply, [names, values]), PostgresCall(makeDurable)])
        let found = try session.run(PostgresCall(read))
        guard found.count == 1, let timeout = found.integer(0, 0), found.text(0, 1) != "off" else {
            throw StorageError(.migrationFailed, detail: "synchronous_commit cannot be switched on")
        }
        guard found.text(0, 2) != nil else {
            throw StorageError(.migrationFailed, detail: "search_path names no schema that exists")
        }
        if purpose == .inspection { _ = try session.run(readOnly) }
        session.deadlines = SessionDeadlines(statementTimeout: timeout)
    }
}
