import Foundation
import TestSupport
import Testing

/// A new process reads what the previous one wrote. Optimized code once freed the text of a stored key before
/// it was parsed, so that the fake Apple failed at every second start: these tests are for the release build
/// (`SIWA_BINARY`).
@Suite struct RestartTests {
    @Test func `the fake Apple starts again on its state file, 10 times`() async throws {
        try await TemporaryDirectory.with { directory in
            let apple = [
                "emulate", "--port", "0", "--state-file", "apple.json", "--signing-key-file",
                "AuthKey_ABC123DEFG.p8",
            ]
            for round in 1...10 {
                let log = try await Self.run(apple, until: "listening on 127.0.0.1:", in: directory)
                #expect(!log.contains("The fake Apple has failed"), "start \(round): \(log)")
            }
        }
    }

    @Test func `siwa dev starts again on its database, 5 times`() async throws {
        try await TemporaryDirectory.with { directory in
            let dev = ["dev", "--port", "0", "--emulator-port", "0", "--database", "sqlite://dev.sqlite"]
            for round in 1...5 {
                let log = try await Self.run(dev, until: "Ctrl-C ends all", in: directory)
                #expect(!log.contains("siwa dev has failed"), "start \(round): \(log)")
            }
        }
    }

    /// Starts the command, waits for a text in its output, stops it, and returns the whole output.
    private static func run(
        _ arguments: [String], until mark: String, in directory: TemporaryDirectory
    ) async throws -> String {
        let output = URL(fileURLWithPath: "\(directory.path)/output-\(UUID().uuidString)")
        let error = URL(fileURLWithPath: "\(directory.path)/error-\(UUID().uuidString)")
        let process = try ServiceProcess.start(
            arguments, ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path], in: directory, output: output,
            error: error)
        defer { if process.isRunning { process.terminate() } }
        func text() throws -> String {
            try String(contentsOf: output, encoding: .utf8) + String(contentsOf: error, encoding: .utf8)
        }
        try await eventually { try text().contains(mark) || !process.isRunning }
        process.terminate()
        try await eventually { !process.isRunning }
        return try text()
    }
}
