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
