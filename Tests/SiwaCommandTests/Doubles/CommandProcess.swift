import Foundation

/// The built `siwa` as a process of its own, run to its end.
struct CommandProcess {
    let status: Int32
    /// Of standard error.
    let complaint: String

    struct NotFound: Error {}

    /// Runs a command in a directory, which must be there.
    static func run(
        _ arguments: [String], _ environment: [String: String], in directory: String
    ) async throws -> CommandProcess {
        let process = Process()
        process.executableURL = try executable()
        process.arguments = arguments
        process.environment = environment
        process.currentDirectoryURL = URL(fileURLWithPath: directory)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        // A file, because a pipe that nobody empties could stop it.
        let log = FileManager.default.temporaryDirectory.appendingPathComponent("siwa-\(UUID().uuidString)")
        _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        defer { try? FileManager.default.removeItem(at: log) }
        process.standardError = try FileHandle(forWritingTo: log)
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        for await _ in ends {}
        return CommandProcess(
            status: process.terminationStatus, complaint: try String(contentsOf: log, encoding: .utf8))
    }

    /// It is built beside the tests.
    private static func executable() throws -> URL {
        let bundles = Bundle.allBundles.map(\.bundleURL).filter { $0.pathExtension == "xctest" }
        let neighbours = bundles + [Bundle.main.executableURL, Bundle.main.bundleURL].compactMap { $0 }
        for directory in neighbours.map({ $0.deletingLastPathComponent() }) + neighbours {
            let candidate = directory.appendingPathComponent("siwa")
            if FileManager.default.isExecutableFile(atPath: candidate.path), !candidate.hasDirectoryPath {
                return candidate
            }
        }
        throw NotFound()
    }
}
