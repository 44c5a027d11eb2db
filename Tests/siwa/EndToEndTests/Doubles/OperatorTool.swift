import Foundation
import TestSupport

/// A program of an operator: promtool, nginx, sqlite3. `scripts/test` installs the programs.
enum OperatorTool {
    struct NotFound: Error, CustomStringConvertible {
        let description: String
    }

    /// Root folder of the project.
    static let root = PythonTools.root

    /// Runs the program to its end, in `directory`.
    static func run(
        _ name: String, _ arguments: [String], input: String = "", _ variables: [String: String] = [:],
        in directory: TemporaryDirectory
    ) async throws -> (status: Int32, output: String) {
        let mark = UUID().uuidString
        let (inputPath, outputPath) = ("\(directory.path)/\(mark).in", "\(directory.path)/\(mark).out")
        try Data(input.utf8).write(to: URL(fileURLWithPath: inputPath))
        _ = FileManager.default.createFile(atPath: outputPath, contents: nil)
        let process = Process()
        process.executableURL = try executable(name)
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": directory.path].merging(variables) { $1 }
        process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
        process.standardInput = FileHandle(forReadingAtPath: inputPath)
        process.standardOutput = FileHandle(forWritingAtPath: outputPath)
        process.standardError = process.standardOutput
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.launchAlone()
        for await _ in ends {}
        return (
            process.terminationStatus,
            try String(contentsOf: URL(fileURLWithPath: outputPath), encoding: .utf8)
        )
    }

    static func executable(_ name: String) throws -> URL {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init)
        for folder in folders + ["/usr/sbin", root.appendingPathComponent(".build/tools").path] {
            let candidate = URL(fileURLWithPath: "\(folder)/\(name)")
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
        }
        throw NotFound(
            description: "\(name) is neither on PATH nor in .build/tools; run scripts/install-tools")
    }
}
