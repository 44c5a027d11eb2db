import Foundation
import TestSupport

/// A program of PostgreSQL, run to its end.
struct Command: Sendable {
    let path: String
    let arguments: [String]
    /// True to run as the user `postgres` when this process is root: a server refuses to run as root.
    var asServer = false

    /// Foundation treats a process as running while another process holds an inherited socket, as a started
    /// server would. The script therefore closes all inherited descriptors.
    private static let script = """
        (
            for entry in /proc/$BASHPID/fd/*; do
                number=${entry##*/}
                [ "$number" -gt 2 ] && eval "exec $number>&-"
            done
            exec "$@"
        )
        exit $?
        """

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs the program and returns its output.
    ///
    /// - Throws: `Failure` when the program ends with an error.
    @discardableResult
    func run() async throws -> String {
        let process = Process()
        var words = [path] + arguments
        if asServer, geteuid() == 0 {
            words =
                ["/usr/bin/env", "setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"]
                + words
        }
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", Self.script, "bash"] + words
        process.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("PG") }
        // Where every user may be.
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardInput = FileHandle.nullDevice
        // A file and not a pipe: a server that is started keeps what it was given open.
        let output = FileManager.default.temporaryDirectory.appendingPathComponent(
            "siwa-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: output) }
        let handle = try FileHandle(forWritingTo: output)
        process.standardOutput = handle
        process.standardError = handle
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.launchAlone()
            } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
        try handle.close()
        let text = try String(contentsOf: output, encoding: .utf8)
        guard status == 0 else { throw Failure(description: "\(path) \(arguments): \(status) \(text)") }
        return text.trimmingCharacters(in: .newlines)
    }
}

/// A data directory made by `initdb`. Each cluster starts on a copy, because `initdb` takes ten times as
/// long.
struct DataDirectory: Sendable {
    let path: String
    /// Removes the directory when this process has ended.
    private let watchdog: Watchdog

    /// The data directory of this process, made on first use.
    static let template = Task { try await make() }

    private static func make() async throws -> DataDirectory {
        let directory = try PostgresCluster.makeDirectory()
        let watchdog = try Watchdog(directory: directory)
        try await Command(
            path: ServerPrograms.path("initdb"),
            arguments: [
                "--pgdata=\(directory)/data", "--username=postgres", "--auth=trust", "--encoding=UTF8",
                "--locale=C", "--no-sync", "--no-instructions",
            ], asServer: true
        ).run()
        return DataDirectory(path: "\(directory)/data", watchdog: watchdog)
    }
}

/// Location of the newest PostgreSQL server of this machine.
enum ServerPrograms {
    struct Missing: Error, CustomStringConvertible {
        let description = "there is no PostgreSQL server here: install the package postgresql"
    }

    static func path(_ name: String) throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let places =
            versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(root)/\($0)/bin" }
            + ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        let files = FileManager.default
        guard let place = places.first(where: { files.isExecutableFile(atPath: "\($0)/postgres") }),
            files.isExecutableFile(atPath: "\(place)/\(name)")
        else { throw Missing() }
        return "\(place)/\(name)"
    }
}

/// The certificate authority of a cluster, and its certificate for "localhost".
struct ServerCertificates {
    let directory: String

    /// The path of the authority's certificate, for `sslrootcert`.
    var authority: String { "\(directory)/ca.crt" }
    var certificate: String { "\(directory)/server.crt" }
    var key: String { "\(directory)/server.key" }

    static func make(in directory: String) async throws -> ServerCertificates {
        let made = ServerCertificates(directory: directory)
        let openSSL = "/usr/bin/openssl"
        let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        try await Command(
            path: openSSL,
            arguments: ["req", "-x509"] + newKey + [
                "-keyout", "\(directory)/ca.key", "-out", made.authority, "-days", "30", "-subj",
                "/CN=siwa tests",
            ]
        ).run()
        try await Command(
            path: openSSL,
            arguments: ["req"] + newKey + [
                "-keyout", made.key, "-out", "\(directory)/server.csr", "-subj", "/CN=localhost",
            ]
        ).run()
        try await Command(
            path: openSSL,
            arguments: [
                "x509", "-req", "-in", "\(directory)/server.csr", "-CA", made.authority, "-CAkey",
                "\(directory)/ca.key", "-CAcreateserial", "-out", made.certificate, "-days", "30",
            ]
        ).run()
        return made
    }
}
