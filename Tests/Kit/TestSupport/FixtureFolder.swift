public import Foundation

/// The folder of the project.
public enum ProjectFolder {
    public static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}

/// A folder of `Fixtures`. Reading it throws when it is missing or a file in it cannot be read, so that a
/// test fails instead of passing without cases.
public struct FixtureFolder: Sendable {
    public static let root = ProjectFolder.root.appending(path: "Fixtures")

    public let url: URL

    public init(_ name: String) {
        url = Self.root.appending(path: name)
    }

    /// The names of all cases, in order.
    public func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: url.path()).filter { $0.hasSuffix(".json") }
            .sorted()
    }

    public func bytes(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: url.appending(path: name)))
    }
}
