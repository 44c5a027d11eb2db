public import Foundation
import TestSupport

/// A PgBouncer in front of a cluster, with a port of its own.
public final class Pooler: Sendable {
    public struct Missing: Error, CustomStringConvertible {
        public let description = "PgBouncer did not start: install the package pgbouncer"
    }

    public let process: pid_t
    private let port: Int
    private let clusterPort: Int
    private let watchdog: Watchdog

    private init(_ port: Int, _ clusterPort: Int, _ process: pid_t, _ watchdog: Watchdog) {
        (self.port, self.clusterPort, self.process) = (port, clusterPort, process)
        self.watchdog = watchdog
    }

    /// - Parameters:
    ///   - mode: `pool_mode` of PgBouncer.
    ///   - size: `pool_size` of PgBouncer: its connections to the server.
    public static func start(
        to cluster: PostgresCluster, mode: String, size: Int = 10
    ) async throws -> Pooler {
        let directory = try PostgresCluster.makeDirectory()
        let watchdog = try Watchdog(
            """
            cat > /dev/null
            [ -f "$1/pid" ] && kill -TERM "$(cat "$1/pid")"
            rm -rf "$1"
            """, [directory])
        let port = try FreePort.find()
        try """
        [databases]
        * = host=localhost port=\(cluster.port)
        [pgbouncer]
        listen_addr = localhost
        listen_port = \(port)
        unix_socket_dir =
        auth_type = plain
        auth_file = \(directory)/users
        pool_mode = \(mode)
        default_pool_size = \(size)
        ignore_startup_parameters = extra_float_digits
        logfile = \(directory)/log
        pidfile = \(directory)/pid
        """.write(toFile: "\(directory)/ini", atomically: false, encoding: .utf8)
        try "\"siwa\" \"\(PostgresCluster.password)\"\n".write(
            toFile: "\(directory)/users", atomically: false, encoding: .utf8)
        let places = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"]
        let program = places.first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let program else { throw Missing() }
        try await Command(
            path: program, arguments: ["--daemon", "--quiet", "\(directory)/ini"], asServer: true
        ).run()
        // It goes to the background before it listens, and may write its process ID afterwards.
        var process: pid_t?
        try await eventually {
            let log = try? String(contentsOfFile: "\(directory)/log", encoding: .utf8)
            let line = try? String(contentsOfFile: "\(directory)/pid", encoding: .utf8)
            process = line.flatMap { pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
            return log?.contains("listening on 127.0.0.1") == true && process != nil
        }
        guard let process else { throw Missing() }
        return Pooler(port, cluster.port, process, watchdog)
    }

    /// The URL of a database of the cluster, through the pooler.
    public func url(for url: String) -> String {
        url.replacing(":\(clusterPort)/", with: ":\(port)/")
    }

    public func stop() { watchdog.release() }
}
