// PostgresCluster starts throw-away PostgreSQL servers for tests.

import Foundation
import Synchronization
import TestSupport

/// A PostgreSQL server with a directory and a port of its own. It ends with this process, also after a crash.
///
/// Tests connect over TCP as the role `siwa`, which has a password and no privileges. The superuser connects
/// over the Unix socket.
public final class PostgresCluster: Sendable {
    /// Mode of stopping a server, in PostgreSQL's words.
    public enum StopMode: String, Sendable { case fast, immediate, smart }

    /// The password of the role `siwa`.
    public static let password = "correct-horse"

    public let port: Int
    /// Directory of all files, and of the Unix socket.
    public let directory: String
    /// The path of the certificate authority's certificate, when the server was started with TLS.
    public let certificateAuthority: String?

    let watchdog: Watchdog
    private let databases = Mutex(0)

    private static let one = Mutex<Task<PostgresCluster, any Error>?>(nil)

    /// The shared cluster of this test process, started on first use. Its data do not survive a failure of
    /// the machine, because nothing is flushed.
    public static func shared() async throws -> PostgresCluster {
        let task = one.withLock { task in
            let started = task ?? Task { try await start(fsync: false, settings: ["max_connections": "300"]) }
            task = started
            return started
        }
        return try await task.value
    }

    /// Starts a cluster of the caller's own, which the caller may stop, break and fill up.
    ///
    /// - Parameter settings: Lines for `postgresql.conf`.
    public static func start(
        fsync: Bool = true, settings: [String: String] = [:], ssl: Bool = false
    ) async throws -> PostgresCluster {
        let directory = try makeDirectory()
        // From now on the cluster is removed, also when this process is killed.
        let watchdog = try Watchdog(directory: directory)
        do {
            return try await start(directory, watchdog, fsync: fsync, settings: settings, ssl: ssl)
        } catch {
            watchdog.release()
            throw error
        }
    }

    private static func start(
        _ directory: String, _ watchdog: Watchdog, fsync: Bool, settings: [String: String], ssl: Bool
    ) async throws -> PostgresCluster {
        let template = try await DataDirectory.template.value
        try await Command(
            path: "/bin/cp", arguments: ["-R", template.path, "\(directory)/data"], asServer: true
        ).run()
        var lines = [
            "listen_addresses": "'localhost'", "unix_socket_directories": "'\(directory)'",
            "fsync": fsync ? "on" : "off", "shared_buffers": "32MB", "logging_collector": "off",
        ]
        var authority: String?
        if ssl {
            let certificates = try await ServerCertificates.make(in: directory)
            try giveToServer(certificates.key)
            authority = certificates.authority
            lines["ssl"] = "on"
            lines["ssl_cert_file"] = "'\(certificates.certificate)'"
            lines["ssl_key_file"] = "'\(certificates.key)'"
        }
        lines.merge(settings) { $1 }
        let port = try FreePort.find()
        lines["port"] = "\(port)"
        try append(lines.map { "\($0) = \($1)\n" }.sorted().joined(), to: "\(directory)/data/postgresql.conf")
        try replace(
            """
            local all postgres trust
            local replication postgres trust
            local all all scram-sha-256
            host all all all scram-sha-256

            """, at: "\(directory)/data/pg_hba.conf")
        let cluster = PostgresCluster(directory, port, authority, watchdog)
        try await cluster.start()
        _ = try await cluster.superuserQuery("CREATE ROLE siwa LOGIN PASSWORD '\(password)'")
        return cluster
    }

    init(_ directory: String, _ port: Int, _ authority: String?, _ watchdog: Watchdog) {
        (self.directory, self.port, certificateAuthority) = (directory, port, authority)
        self.watchdog = watchdog
    }

    /// Starts the server again after `stop`, and returns when it accepts connections.
    public func start() async throws {
        try await control(["start", "--wait", "--timeout=60", "--log=\(directory)/log"])
    }

    public func stop(_ mode: StopMode = .fast) async throws {
        try await control(["stop", "--wait", "--mode=\(mode.rawValue)"])
    }

    public func restart(_ mode: StopMode = .fast) async throws {
        try await stop(mode)
        try await start()
    }

    /// Stops the server and removes its directory. Otherwise both happen when this process ends.
    public func remove() async throws {
        try await stop(.immediate)
        watchdog.release()
    }

    /// Removes the directory of a server that was killed.
    public func discard() {
        watchdog.release()
    }

    /// Makes a new empty database that belongs to `siwa`, and returns its URL.
    public func makeDatabase(encoding: String = "UTF8") async throws -> String {
        let number = databases.withLock { number in
            number += 1
            return number
        }
        let name = "test_\(number)"
        _ = try await superuserQuery(
            "CREATE DATABASE \(name) OWNER siwa TEMPLATE template0 ENCODING '\(encoding)' LOCALE 'C'")
        return url(of: name)
    }

    public func url(of database: String, password: String = password) -> String {
        "postgres://siwa:\(password)@localhost:\(port)/\(database)"
    }

    /// Runs SQL as the superuser, and returns the rows, one per line, with "|" between the columns.
    @discardableResult
    public func superuserQuery(_ sql: String, in database: String = "postgres") async throws -> String {
        try await Command(
            path: ServerPrograms.path("psql"),
            arguments: [
                "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1",
                "--host=\(directory)", "--port=\(port)", "--username=postgres", "--dbname=\(database)",
                "--command=\(sql)",
            ]
        ).run()
    }

    func control(_ arguments: [String]) async throws {
        try await Command(
            path: ServerPrograms.path("pg_ctl"),
            arguments: arguments + ["--silent", "--pgdata=\(directory)/data"],
            asServer: true
        ).run()
    }
}
