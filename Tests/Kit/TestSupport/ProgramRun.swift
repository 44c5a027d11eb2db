public import Foundation

/// A finished run of a program.
public struct ProgramRun: Sendable {
    public let status: Int32
    /// Output to standard error, and to standard output unless it was dropped.
    public let output: String

    /// Runs a program. Ends it after 400 seconds: a test that hangs would take all of its lane with it.
    ///
    /// - Parameters:
    ///   - environment: Replaces the environment of this process.
    ///   - directory: The working directory.
    ///   - input: A file for standard input.
    ///   - keepsOutput: True if `output` has standard output too.
    public static func of(
        _ program: URL, _ arguments: [String], environment: [String: String]? = nil,
        in directory: String? = nil, input: URL? = nil, keepsOutput: Bool = true
    ) async throws -> ProgramRun {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        if let environment { process.environment = environment }
        if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
        process.standardInput = try input.map { try FileHandle(forReadingFrom: $0) } ?? .nullDevice
        // A file, because a pipe that is not read would stop the program.
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("siwa-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: log) }
        let handle = try FileHandle(forWritingTo: log)
        process.standardOutput = keepsOutput ? handle : FileHandle.nullDevice
        process.standardError = handle
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.launchAlone()
        let bound = Task {
            try await Task.sleep(for: .seconds(400))
            process.terminate()
        }
        defer { bound.cancel() }
        await withTaskCancellationHandler {
            for await _ in ends {}
        } onCancel: {
            process.terminate()
        }
        // The stream also ends when this task is cancelled.
        guard !process.isRunning else { throw CancellationError() }
        return ProgramRun(
            status: process.terminationStatus, output: try String(contentsOf: log, encoding: .utf8))
    }

    /// Runs a program that is found on `PATH`.
    public static func named(_ name: String, _ arguments: [String]) async throws -> ProgramRun {
        try await of(URL(fileURLWithPath: "/usr/bin/env"), [name] + arguments)
    }
}
