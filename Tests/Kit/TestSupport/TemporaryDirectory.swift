public import Foundation

/// A directory that is deleted when the value ends.
public final class TemporaryDirectory: Sendable {
    public let path: String

    public init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("siwa-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { remove() }

    /// Runs `body` with a directory that contains these files, and deletes it afterwards.
    public static func with<Result>(
        _ files: [String: String] = [:], _ body: (TemporaryDirectory) async throws -> Result
    ) async throws -> Result {
        let directory = try TemporaryDirectory()
        // Deleted explicitly, because the optimizer may otherwise end the value after its last use.
        defer { directory.remove() }
        for (name, content) in files { try directory.write(content, to: name) }
        return try await body(directory)
    }

    /// The path for a file in the directory, which need not exist.
    public func path(of name: String) -> String { "\(path)/\(name)" }

    /// Writes a file and returns its path.
    @discardableResult
    public func write(_ content: String, to name: String) throws -> String {
        try Data(content.utf8).write(to: URL(fileURLWithPath: path(of: name)))
        return path(of: name)
    }

    private func remove() {
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// A file that exists while a test uses it.
public enum TemporaryFile {
    public static func with<Result>(
        _ content: String, _ body: (String) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.with { directory in
            try await body(directory.write(content, to: "file"))
        }
    }
}

/// The project folder.
public enum ProjectFolder {
    public static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}

/// A folder in `Fixtures`. Reading it throws an error if the folder or one of its files cannot be read, so
/// that a test fails instead of passing without any cases.
public struct FixtureFolder: Sendable {
    public static let root = ProjectFolder.root.appending(path: "Fixtures")

    public let url: URL

    public init(_ name: String) {
        url = Self.root.appending(path: name)
    }

    /// The names of all cases, sorted.
    public func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path()).filter { $0.hasSuffix(".json") }
            .sorted()
    }

    public func bytes(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: url.appending(path: name)))
    }
}
