import Foundation
import SQLTables

/// Facts about a PostgreSQL server that matter to the service's operator.
public struct PostgresServer: Sendable, Equatable {
    /// The version in PostgreSQL's notation: 150018 is 15.18.
    public var version: Int
    /// The `synchronous_commit` setting of the server, database and role, before a session sets "on".
    public var synchronousCommit: String
    /// True if a commit waits until the server's disk has stored it.
    public var isSafeOnPowerLoss: Bool
    /// True if the server refuses writes: a standby, or a database that is set to read-only.
    public var isReadOnly: Bool
    /// Number of connections that the server accepts from unprivileged roles.
    public var mostConnections: Int
    /// Current number of connections, including this one.
    public var connections: Int
    /// Number of milliseconds that this machine's clock is ahead of the server's.
    public var clockLead: Int64
    public var standbys: PostgresStandbys

    public init(
        version: Int, synchronousCommit: String, isSafeOnPowerLoss: Bool, isReadOnly: Bool,
        mostConnections: Int, connections: Int, clockLead: Int64 = 0,
        standbys: PostgresStandbys = PostgresStandbys()
    ) {
        (self.version, self.synchronousCommit) = (version, synchronousCommit)
        (self.isSafeOnPowerLoss, self.isReadOnly) = (isSafeOnPowerLoss, isReadOnly)
        (self.mostConnections, self.connections) = (mostConnections, connections)
        (self.clockLead, self.standbys) = (clockLead, standbys)
    }
}

extension PostgresServer {
    private static let read = TypedQuery<
        (
            version: Column<Int64>, synchronousCommit: Column<String>, isSafeOnPowerLoss: Column<Bool>,
            isReadOnly: Column<Bool>, mostConnections: Column<Int64>, connections: Column<Int64>,
            clock: Column<Int64>
        )
    >("read_server") {
        (
            $0.add("current_setting('server_version_num')::integer", Int64.self, as: "version"),
            $0.add(
                "(SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit')", String.self,
                as: "synchronous_commit"),
            $0.add(
                "current_setting('fsync') = 'on' AND current_setting('full_page_writes') = 'on'", Bool.self,
                as: "is_safe"),
            $0.add(
                """
                pg_is_in_recovery() OR (
                    SELECT reset_val FROM pg_settings WHERE name = 'default_transaction_read_only') = 'on'
                """, Bool.self, as: "is_read_only"),
            $0.add(
                """
                current_setting('max_connections')::integer
                    - current_setting('superuser_reserved_connections')::integer
                """, Int64.self, as: "most_connections"),
            // `pg_stat_activity` hides the kind of other roles' sessions from unprivileged roles.
            $0.add("(SELECT sum(numbackends)::bigint FROM pg_stat_database)", Int64.self, as: "connections"),
            $0.add("(extract(epoch FROM clock_timestamp()) * 1000)::bigint", Int64.self, as: "clock")
        )
    } sql: {
        "SELECT \($0)"
    }

    /// Reads the facts from this session's server.
    init(_ session: PostgresSession) throws {
        let rows = try session.run(Self.read.statement())
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let (row, read) = (rows[0], Self.read.columns)
        self.init(
            version: Int(row[read.version] ?? 0), synchronousCommit: row[read.synchronousCommit] ?? "",
            isSafeOnPowerLoss: row[read.isSafeOnPowerLoss] ?? false, isReadOnly: row[read.isReadOnly] ?? true,
            mostConnections: Int(row[read.mostConnections] ?? 0),
            connections: Int(row[read.connections] ?? 0), clockLead: now - (row[read.clock] ?? now),
            standbys: try PostgresStandbys(session))
    }
}

extension PostgresInspection {
    /// Reads facts about the server. Reads no stored rows.
    public func server() async throws -> PostgresServer {
        try await pool.run { try PostgresServer($0) }
    }
}

/// State of a PostgreSQL server's standbys, as far as this session's role may read it (PostgreSQL's manual,
/// "Streaming Replication").
public struct PostgresStandbys: Sendable, Equatable {
    /// The `synchronous_standby_names` setting. Empty if commits wait for no standby.
    public var wanted: String
    /// Number of connected standbys.
    public var connected: Int
    /// Number of connected standbys that commits wait for; `nil` if the role may not see it. PostgreSQL shows
    /// the number to members of `pg_monitor`.
    public var synchronous: Int?

    public init(wanted: String = "", connected: Int = 0, synchronous: Int? = 0) {
        (self.wanted, self.connected, self.synchronous) = (wanted, connected, synchronous)
    }

    /// Number of standbys that a commit waits for, according to the setting: `FIRST 2 (a, b, c)`, `ANY 1
    /// (*)`, `2 (a, b)`, or a list of names, which means 1.
    public var required: Int {
        guard !wanted.isEmpty else { return 0 }
        let words = wanted.prefix { $0 != "(" }.split(whereSeparator: \.isWhitespace)
        return wanted.contains("(") ? words.last.flatMap { Int($0) } ?? 1 : 1
    }
}

extension PostgresStandbys {
    private static let read = TypedQuery<
        (
            wanted: Column<String>, connected: Column<Int64>, synchronous: Column<Int64>,
            isHidden: Column<Bool>
        )
    >("read_standbys") {
        (
            $0.add("current_setting('synchronous_standby_names')", String.self, as: "wanted"),
            $0.add("count(*)", Int64.self, as: "connected"),
            $0.add(
                "count(*) FILTER (WHERE sync_state IN ('sync', 'quorum'))", Int64.self, as: "synchronous"),
            $0.add("coalesce(bool_or(sync_state IS NULL), false)", Bool.self, as: "is_hidden")
        )
    } sql: {
        "SELECT \($0) FROM pg_stat_replication"
    }

    /// Reads the standbys of this session's server.
    init(_ session: PostgresSession) throws {
        let rows = try session.run(Self.read.statement())
        let (row, read) = (rows[0], Self.read.columns)
        let isHidden = row[read.isHidden] ?? true
        self.init(
            wanted: row[read.wanted] ?? "", connected: Int(row[read.connected] ?? 0),
            synchronous: isHidden ? nil : row[read.synchronous].map { Int($0) })
    }
}
