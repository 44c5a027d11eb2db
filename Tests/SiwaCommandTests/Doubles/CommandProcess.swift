import Foundation
import SiwaBinary

/// Runs the built `siwa` as a separate process until it ends.
struct CommandProcess {
    let status: Int32
    /// The text on standard error.
    let errorText: String

    /// Runs a command in an existing directory.
    static func run(
        _ arguments: [String], _ environment: [String: String], in directory: String
    ) async throws -> CommandProcess {
        let process = Process()
        process.executableURL = try BuiltSiwa.url()
        process.arguments = arguments
        process.environment = environment
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        // A file, because the process would block on a pipe that is not read.
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("siwa-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: log) }
        process.standardError = try FileHandle(forWritingTo: log)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        for await _ in ends {}
        return CommandProcess(
            status: process.terminationStatus, errorText: try String(contentsOf: log, encoding: .utf8))
    }
}
