import Foundation

/// A folder of cases. Reading it throws when it is missing or a file in it cannot be read, so that a test that
/// runs over it fails instead of running over nothing.
struct FixtureFolder {
    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures")

    let url: URL

    init(_ name: String) {
        url = Self.root.appending(path: name)
    }

    /// All cases, in the order of their names.
    func files<Content: Decodable>(of type: Content.Type = Content.self) throws -> [FixtureFile<Content>] {
        let files = try names().map { try FixtureFile<Content>(url.appending(path: $0)) }
        guard !files.isEmpty else { throw FixtureError("\(url.lastPathComponent) is empty") }
        return files
    }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path()).filter { $0.hasSuffix(".json") }
            .sorted()
    }

    func bytes(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: url.appending(path: name)))
    }
}
