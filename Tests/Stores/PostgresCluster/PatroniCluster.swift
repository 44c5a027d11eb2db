public import Foundation
import TestSupport

/// Three PostgreSQL servers under Patroni, with one etcd, all on this machine. They end with this process,
/// also after a crash.
///
/// The configuration of the nodes is the one of the documentation, with addresses and directories of this
/// machine.
public final class PatroniCluster: Sendable {
    public struct Missing: Error, CustomStringConvertible {
        public let description = "Patroni or etcd did not start: install the packages patroni and etcd-server"
    }

    /// One server, with its Patroni.
    struct Node: Sendable {
        let name: String
        let port: Int
        let apiPort: Int
    }

    private let directory: String
    private let nodes: [Node]
    private let watchdog: Watchdog

    private init(_ directory: String, _ nodes: [Node], _ watchdog: Watchdog) {
        (self.directory, self.nodes, self.watchdog) = (directory, nodes, watchdog)
    }

    /// Returns when all nodes run, and one of them is a synchronous standby of the primary.
    ///
    /// - Parameter example: The file of the documentation.
    public static func start(example: String) async throws -> PatroniCluster {
        let directory = try PostgresCluster.makeDirectory()
        // Each program has its own process group, whose number is in a file.
        let watchdog = try Watchdog(
            """
            \(Watchdog.endServer)
            cat > /dev/null
            for file in "$1"/*.pid; do
                group=$(cat "$file")
                [ "/proc/$group/cwd" -ef "${file%.pid}" ] && kill -KILL "-$group"
            done
            for data in "$1"/*/data; do end_server "$data"; done
            rm -rf "$1"
            """, [directory])
        do {
            let (client, peer) = (try FreePort.find(), try FreePort.find())
            let nodes = try (1...3).map {
                Node(name: "db\($0)", port: try FreePort.find(), apiPort: try FreePort.find())
            }
            let cluster = PatroniCluster(directory, nodes, watchdog)
            try await cluster.launch(
                "etcd",
                [
                    "/usr/bin/etcd", "--data-dir=\(directory)/etcd",
                    "--listen-client-urls=http://127.0.0.1:\(client)",
                    "--advertise-client-urls=http://127.0.0.1:\(client)",
                    "--listen-peer-urls=http://127.0.0.1:\(peer)",
                    "--initial-advertise-peer-urls=http://127.0.0.1:\(peer)",
                    "--initial-cluster=default=http://127.0.0.1:\(peer)",
                ])
            for node in nodes {
                let file = "\(directory)/\(node.name).yml"
                try configuration(of: node, in: directory, etcd: client, example: example)
                    .write(toFile: file, atomically: false, encoding: .utf8)
                try PostgresCluster.giveToServer(file)
                try await cluster.launch(node.name, ["/usr/bin/patroni", file])
            }
            do {
                try await eventually(within: .seconds(120)) { try await cluster.hasSynchronousStandby() }
            } catch is NeverTrue {
                throw Missing()
            }
            return cluster
        } catch {
            watchdog.release()
            throw error
        }
    }

    private static func configuration(
        of node: Node, in directory: String, etcd: Int, example: String
    ) throws -> String {
        let home = "\(directory)/\(node.name)"
        let programs = try ServerPrograms.path("postgres").dropLast("/postgres".count)
        let changes = [
            ("name: db1\n", "name: \(node.name)\n"), ("0.0.0.0:8008", "127.0.0.1:\(node.apiPort)"),
            ("db1.example.com:8008", "127.0.0.1:\(node.apiPort)"),
            (
                "etcd1.example.com:2379,etcd2.example.com:2379,etcd3.example.com:2379",
                "127.0.0.1:\(etcd)"
            ),
            ("0.0.0.0:5432", "127.0.0.1:\(node.port)"), ("db1.example.com:5432", "127.0.0.1:\(node.port)"),
            ("/var/lib/postgresql/15/siwa", "\(home)/data"), ("/usr/lib/postgresql/15/bin", String(programs)),
            ("unix_socket_directories: /run/postgresql", "unix_socket_directories: \(directory)"),
            ("hostssl ", "host "), ("    ssl: \"on\"\n", ""),
            ("    ssl_cert_file: /etc/siwa-db/server.crt\n", ""),
            ("    ssl_key_file: /etc/siwa-db/server.key\n", ""),
        ]
        var text = example
        for (old, new) in changes {
            guard text.contains(old) else { throw Command.Failure(description: "no \(old) in the example") }
            text = text.replacing(old, with: new)
        }
        return text
    }

    /// Starts a program in the background, as the user of the server.
    private func launch(_ name: String, _ words: [String]) async throws {
        let line = words.map { "'\($0)'" }.joined(separator: " ")
        try await Command(
            path: "/bin/bash",
            arguments: [
                "-c",
                """
                mkdir -p '\(directory)/\(name)' && cd '\(directory)/\(name)' && export HOME=$PWD
                setsid bash -c 'echo $$ > "\(directory)/\(name).pid"; exec "$@"' start \(line) \
                    > '\(directory)/\(name).log' 2>&1 < /dev/null &
                """,
            ], asServer: true
        ).run()
    }

    /// Makes the role and a database of the service, and returns its URL with all nodes.
    public func makeDatabase() async throws -> String {
        let port = try await primary().port
        try await query("CREATE ROLE siwa LOGIN PASSWORD '\(PostgresCluster.password)'", port: port)
        try await query("CREATE DATABASE siwa OWNER siwa TEMPLATE template0 ENCODING 'UTF8'", port: port)
        let hosts = nodes.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        return "postgres://siwa:\(PostgresCluster.password)@\(hosts)/siwa?target_session_attrs=read-write"
    }

    /// Ends the primary's server and its Patroni with SIGKILL, as if the machine had lost its power.
    public func killPrimary() async throws {
        let node = try await primary()
        let group = try number(in: "\(directory)/\(node.name).pid")
        _ = Foundation.kill(-group, SIGKILL)
        try PostgresCluster.kill(serverIn: "\(directory)/\(node.name)/data")
    }

    public func remove() { watchdog.release() }

    private func number(in file: String) throws -> pid_t {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        guard let number = text.split(separator: "\n").first.flatMap({ pid_t($0) }) else {
            throw POSIXError(.ESRCH)
        }
        return number
    }

    private func hasSynchronousStandby() async throws -> Bool {
        guard let port = try? await primary().port else { return false }
        let rows = try? await query(
            "SELECT count(*), bool_or(sync_state = 'sync') FROM pg_stat_replication", port: port)
        return rows == "\(nodes.count - 1)|t"
    }

    private func primary() async throws -> Node {
        for node in nodes {
            if (try? await query("SELECT pg_is_in_recovery()", port: node.port)) == "f" { return node }
        }
        throw POSIXError(.ENOENT)
    }

    @discardableResult
    private func query(_ sql: String, port: Int) async throws -> String {
        try await Command(
            path: ServerPrograms.path("psql"),
            arguments: [
                "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1",
                "--host=\(directory)", "--port=\(port)", "--username=postgres", "--dbname=postgres",
                "--command=\(sql)",
            ]
        ).run()
    }
}

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
