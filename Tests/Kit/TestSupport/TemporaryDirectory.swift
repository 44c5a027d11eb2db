import Foundation

/// A directory that is removed with this value.
public final class TemporaryDirectory: Sendable {
    public let path: String

    public init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("siwa-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { remove() }

    /// Runs `body` with a directory that has these files, and removes it afterwards.
    public static func with<Result>(
        _ files: [String: String] = [:], _ body: (TemporaryDirectory) async throws -> Result
    ) async throws -> Result {
        let directory = try TemporaryDirectory()
        // At a known time, and not when the optimizer sees the last use.
        defer { directory.remove() }
        for (name, content) in files { try directory.write(content, to: name) }
        return try await body(directory)
    }

    /// The path of a file in the directory, which need not exist.
    public func path(of name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, and returns its path.
    @discardableResult
    public func write(_ content: String, to name: String) throws -> String {
        try Data(content.utf8).write(to: URL(fileURLWithPath: path(of: name)))
        return path(of: name)
    }

    private func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}
