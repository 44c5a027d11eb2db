import Foundation
import TestSupport

/// Third-party tools, from the virtual environment of `scripts/python-packages`.
enum PythonTools {
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    /// Root folder of the project.
    static let root = ProjectFolder.root

    /// Runs a tool in a separate directory until it ends, because most tools leave files.
    static func run(
        _ name: String, _ arguments: [String], _ variables: [String: String] = [:],
        in directory: TemporaryDirectory
    ) async throws -> ProgramRun {
        let folder = root.appendingPathComponent(".build-python/bin")
        let tool = folder.appendingPathComponent(name)
        guard FileManager.default.isExecutableFile(atPath: tool.path) else {
            throw Missing(description: "there is no \(name) in .build-python; run scripts/python-packages")
        }
        let environment = [
            "PATH": "\(folder.path):/usr/bin:/bin", "HOME": directory.path, "TMPDIR": directory.path,
            "LANG": "C.UTF-8", "NO_COLOR": "1", "PYTHONDONTWRITEBYTECODE": "1",
        ].merging(variables) { $1 }
        return try await ProgramRun.of(tool, arguments, environment: environment, in: directory.path)
    }
}
