import Foundation

/// Third-party tools, from the virtual environment of `scripts/python-packages`.
enum PythonTools {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// Of the project.
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Runs a tool in a separate directory until it ends, because most tools leave files.
    static func run(
        _ name: String, _ arguments: [String], _ variables: [String: String] = [:],
        in directory: TemporaryDirectory
    ) async throws -> (status: Int32, output: String) {
        let folder = root.appendingPathComponent(".build-python/bin")
        let tool = folder.appendingPathComponent(name)
        guard FileManager.default.isExecutableFile(atPath: tool.path) else {
            throw Missing(description: "there is no \(name) in .build-python; run scripts/python-packages")
        }
        let output = URL(fileURLWithPath: "\(directory.path)/\(name).txt")
        _ = FileManager.default.createFile(atPath: output.path, contents: nil)
        let handle = try FileHandle(forWritingTo: output)
        let process = Process()
        process.executableURL = tool
        process.arguments = arguments
        process.environment = [
            "PATH": "\(folder.path):/usr/bin:/bin", "HOME": directory.path, "TMPDIR": directory.path,
            "LANG": "C.UTF-8", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1",
        ].merging(variables) { $1 }
        process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        await withTaskCancellationHandler {
            for await _ in ends {}
        } onCancel: {
            process.terminate()
        }
        return (process.terminationStatus, try String(contentsOf: output, encoding: .utf8))
    }
}
