import Foundation
import TestSupport

/// Streaming replication (PostgreSQL's manual, "Log-Shipping Standby Servers").
extension PostgresCluster {
    /// Starts a hot standby of this server, with a copy of its files.
    ///
    /// - Parameter name: Name of the standby in `synchronous_standby_names`.
    public func makeStandby(name: String) async throws -> PostgresCluster {
        let copy = try Self.makeDirectory()
        let watchdog = try Watchdog(directory: copy)
        do {
            try await Command(
                path: ServerPrograms.path("pg_basebackup"),
                arguments: [
                    "--pgdata=\(copy)/data", "--host=\(directory)", "--port=\(port)", "--username=postgres",
                    "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
                ], asServer: true
            ).run()
            let port = try FreePort.find()
            let source = "host=\(directory) port=\(self.port) user=postgres application_name=\(name)"
            // A later line of the same name wins, and a file made by ALTER SYSTEM wins over this one.
            try Self.append("primary_conninfo = '\(source)'\n", to: "\(copy)/data/postgresql.auto.conf")
            try Self.append(
                "port = \(port)\nunix_socket_directories = '\(copy)'\n",
                to: "\(copy)/data/postgresql.conf")
            let standby = PostgresCluster(copy, port, nil, watchdog)
            try await standby.start()
            return standby
        } catch {
            watchdog.release()
            throw error
        }
    }

    /// Makes the commits of this server wait for standbys, and returns when such a standby is connected.
    ///
    /// - Parameter names: In the notation of `synchronous_standby_names`. Not an empty text.
    public func commitAtStandbys(_ names: String) async throws {
        try await setSynchronousStandbys(names)
        try await eventually {
            let count = "SELECT count(*) FROM pg_stat_replication WHERE sync_state <> 'async'"
            return try await superuserQuery(count) != "0"
        }
    }

    public func setSynchronousStandbys(_ names: String) async throws {
        try await superuserQuery("ALTER SYSTEM SET synchronous_standby_names = '\(names)'")
        try await superuserQuery("SELECT pg_reload_conf()")
    }

    /// Makes this standby a primary, and returns when it accepts writes.
    public func promote() async throws {
        try await control(["promote", "--wait"])
    }

    /// Returns the URL of a database on several servers. libpq connects to the one that accepts writes.
    public static func url(of database: String, on clusters: [PostgresCluster]) -> String {
        let hosts = clusters.map { "localhost:\($0.port)" }.joined(separator: ",")
        return "postgres://siwa:\(password)@\(hosts)/\(database)?target_session_attrs=read-write"
    }
}
