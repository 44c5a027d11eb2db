import Foundation

/// A directory that exists during a test.
struct TemporaryDirectory: Sendable {
    let path: String

    static func with<Result>(_ body: (TemporaryDirectory) async throws -> Result) async throws -> Result {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent(
            "siwa-e2e-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: url) }
        return try await body(TemporaryDirectory(path: url.path))
    }
}
