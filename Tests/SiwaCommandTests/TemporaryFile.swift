import Foundation

/// A file that is there for the length of a test.
enum TemporaryFile {
    static func with<Result>(_ content: String, _ body: (String) async throws -> Result) async throws
        -> Result
    {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "siwa-test-\(UUID().uuidString)")
        try Data(content.utf8).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(url.path)
    }
}
