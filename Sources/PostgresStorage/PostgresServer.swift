import Foundation

/// What a PostgreSQL server says of itself, as far as it matters to whoever runs the service on it.
public struct PostgresServer: Sendable, Equatable {
    /// As PostgreSQL counts: 150018 is 15.18.
    public var version: Int
    /// As the server, the database and the role have it, before a session asks for "on".
    public var synchronousCommit: String
    /// Whether the server waits for the disk at all.
    public var isSafeOnPowerLoss: Bool
    /// It takes no writes: a standby, or a database that is set to be read.
    public var isReadOnly: Bool
    /// How many connections the server takes from roles without privileges.
    public var mostConnections: Int
    /// How many it has now, this one with them.
    public var connections: Int
    /// How many milliseconds the clock of this machine is ahead of the server's.
    public var clockLead: Int64

    public init(
        version: Int, synchronousCommit: String, isSafeOnPowerLoss: Bool, isReadOnly: Bool,
        mostConnections: Int, connections: Int, clockLead: Int64 = 0
    ) {
        (self.version, self.synchronousCommit) = (version, synchronousCommit)
        (self.isSafeOnPowerLoss, self.isReadOnly) = (isSafeOnPowerLoss, isReadOnly)
        (self.mostConnections, self.connections) = (mostConnections, connections)
        self.clockLead = clockLead
    }
}

extension PostgresServer {
    // pg_stat_activity hides what the sessions of other roles are from roles without privileges.
    private static let read = PostgresStatement(
        "read_server",
        """
        SELECT current_setting('server_version_num')::integer,
            (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit'),
            current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on',
            pg_is_in_recovery()
                OR (SELECT reset_val FROM pg_settings WHERE name = 'default_transaction_read_only') = 'on',
            current_setting('max_connections')::integer
                - current_setting('superuser_reserved_connections')::integer,
            (SELECT sum(numbackends)::bigint FROM pg_stat_database),
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        """)

    /// Asks the server of this session.
    init(_ session: PostgresSession) throws {
        let rows = try session.run(PostgresCall(Self.read))
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        self.init(
            version: Int(rows.integer(0, 0) ?? 0), synchronousCommit: rows.text(0, 1) ?? "",
            isSafeOnPowerLoss: rows.boolean(0, 2) ?? false, isReadOnly: rows.boolean(0, 3) ?? true,
            mostConnections: Int(rows.integer(0, 4) ?? 0), connections: Int(rows.integer(0, 5) ?? 0),
            clockLead: now - (rows.integer(0, 6) ?? now))
    }
}

extension PostgresInspection {
    /// Asks the server, not for what is stored.
    public func server() async throws -> PostgresServer {
        try await pool.run { try PostgresServer($0) }
    }
}
