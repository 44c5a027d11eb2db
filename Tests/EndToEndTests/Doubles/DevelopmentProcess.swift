import Foundation
import TestSupport
import Testing

/// `siwa dev` as a process of its own.
struct DevelopmentProcess: Sendable {
    let port: Int
    let applePort: Int

    /// Runs it on a port of the service that is known before, as sign-in on the web needs.
    static func with<Result>(
        _ options: [String] = [], in directory: TemporaryDirectory,
        _ body: (DevelopmentProcess) async throws -> Result
    ) async throws -> Result {
        let port = try FreePort.find()
        let printed = URL(fileURLWithPath: "\(directory.path)/printed-\(UUID().uuidString).txt")
        let process = try ServiceProcess.start(
            ["dev", "--port", "\(port)", "--emulator-port", "0"] + options,
            ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path], in: directory, output: printed,
            error: URL(fileURLWithPath: "\(directory.path)/dev.log"))
        defer {
            process.terminate()
            process.waitUntilExit()
        }
        let mark = "fake Apple http://127.0.0.1:"
        try await eventually { try String(contentsOf: printed, encoding: .utf8).contains("/v1/events") }
        let text = try String(contentsOf: printed, encoding: .utf8)
        let digits = text.firstRange(of: mark).map { text[$0.upperBound...].prefix { $0.isNumber } }
        return try await body(DevelopmentProcess(port: port, applePort: digits.flatMap { Int($0) } ?? 0))
    }
}
