import Foundation

/// Prometheus' command line tool, where `scripts/test` puts it.
enum Promtool {
    struct NotFound: Error, CustomStringConvertible {
        let description = "promtool is neither on PATH nor in .build/tools; run scripts/install-promtool"
    }

    static func check(
        _ metrics: String, in directory: TemporaryDirectory
    ) async throws -> (status: Int32, output: String) {
        let (input, output) = ("\(directory.path)/metrics", "\(directory.path)/verdict")
        try Data(metrics.utf8).write(to: URL(fileURLWithPath: input))
        _ = FileManager.default.createFile(atPath: output, contents: nil)
        let process = Process()
        process.executableURL = try executable()
        process.arguments = ["check", "metrics"]
        process.standardInput = FileHandle(forReadingAtPath: input)
        process.standardOutput = FileHandle(forWritingAtPath: output)
        process.standardError = process.standardOutput
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        for await _ in ends {}
        let text = try String(contentsOf: URL(fileURLWithPath: output), encoding: .utf8)
        return (process.terminationStatus, text)
    }

    private static func executable() throws -> URL {
        let paths = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":").map(String.init) ?? []
        // The tests run in the package's directory.
        for directory in paths + [".build/tools"] {
            let candidate = "\(directory)/promtool"
            if FileManager.default.isExecutableFile(atPath: candidate) {
                return URL(fileURLWithPath: candidate)
            }
        }
        throw NotFound()
    }
}
