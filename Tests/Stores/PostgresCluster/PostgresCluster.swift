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
    /// the machine, because nothing is flushed. Nothing is vacuumed, because that starts a process for each of
    /// the hundreds of databases again and again.
    public static func shared() async throws -> PostgresCluster {
        let task = one.withLock { task in
            let started =
                task
                ?? Task {
                    try await start(
                        fsync: false, settings: ["max_connections": "300", "autovacuum": "off"])
                }
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

extension PostgresCluster {
    /// Makes a directory owned by the server's user, also when this process is root.
    static func makeDirectory() throws -> String {
        // Short, because the path of a Unix socket has at most 107 bytes.
        let name = "siwa-pg-\(UInt32.random(in: 0 ... .max))"
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(name).path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try giveToServer(path)
        return path
    }

    static func giveToServer(_ path: String) throws {
        guard geteuid() == 0 else { return }
        guard let user = getpwnam("postgres") else { throw ServerPrograms.Missing() }
        guard chown(path, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else { throw POSIXError(.EPERM) }
    }

    static func append(_ text: String, to path: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }

    /// Replaces a file in place, so that the server's user still owns it.
    static func replace(_ text: String, at path: String) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }
}

extension PostgresCluster {
    /// Suspends all server processes, as if the machine hung: connections stay open, the kernel accepts new
    /// connections, and no request gets a response.
    public func freeze() throws {
        for process in try processes() { Foundation.kill(process, SIGSTOP) }
    }

    public func thaw() throws {
        for process in try processes() { Foundation.kill(process, SIGCONT) }
    }

    /// Ends all server processes at once with SIGKILL, as if the machine had lost its power.
    public func kill() throws { try Self.kill(serverIn: "\(directory)/data") }

    /// Stops the processes before it ends them. A session that sees the end of the main process no longer waits for
    /// the standby, and the others can then read a commit that only this server has.
    static func kill(serverIn folder: String) throws {
        for process in try processes(in: folder) { Foundation.kill(process, SIGSTOP) }
        for process in try processes(in: folder).reversed() { Foundation.kill(process, SIGKILL) }
    }

    private func processes() throws -> [pid_t] { try Self.processes(in: "\(directory)/data") }

    /// Process IDs of a server. The first process starts the others.
    private static func processes(in folder: String) throws -> [pid_t] {
        let file = try String(contentsOfFile: "\(folder)/postmaster.pid", encoding: .utf8)
        guard let main = file.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
            throw POSIXError(.ESRCH)
        }
        let children = try String(contentsOfFile: "/proc/\(main)/task/\(main)/children", encoding: .utf8)
        return [main] + children.split(separator: " ").compactMap { pid_t($0) }
    }
}

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

extension Watchdog {
    /// Defines the function `end_server`, which ends the server of a data directory. It does nothing to another process
    /// that has been given the number of a killed server since, and frees the shared memory of a killed server.
    static let endServer = """
        end_server() {
            file=$1/postmaster.pid
            [ -f "$file" ] || return
            server=$(sed -n 1p "$file"); segment=$(sed -n '7s/.* //p' "$file")
            is_running() { kill -0 "$server" && { [ ! -d /proc/self ] || [ "/proc/$server/cwd" -ef "$1" ]; }; }
            if is_running "$1"; then
                kill -QUIT "$server"; kill -CONT "$server"
                turn=0
                while is_running "$1" && [ $turn -lt 100 ]; do sleep 0.1; turn=$((turn + 1)); done
                is_running "$1" && kill -KILL "$server"
            fi
            # A server that ends by itself removes both.
            [ -f "$file" ] && [ -n "$segment" ] && ipcrm -m "$segment"
        }

        """

    /// Ends the server of this directory, if there is one, and removes the directory.
    init(directory: String) throws {
        try self.init(
            """
            \(Self.endServer)
            cat > /dev/null
            end_server "$1/data"
            rm -rf "$1"
            """, [directory])
    }
}
