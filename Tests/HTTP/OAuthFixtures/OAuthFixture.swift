import Foundation
import TestSupport

/// A case of `Fixtures/oauth` with the name of its file. Foundation reads the file, not the reader of the
/// service. Its members are named in snake case.
struct OAuthFixture<Content: Decodable & Sendable>: Sendable, CustomStringConvertible {
    let name: String
    let content: Content

    struct Empty: Error {
        let folder: String
    }

    /// All cases of a folder, in the order of their names.
    static func all(in name: String) throws -> [OAuthFixture] {
        let folder = FixtureFolder("oauth/\(name)")
        let names = try folder.names()
        // A test without arguments would pass without having looked at anything.
        guard !names.isEmpty else { throw Empty(folder: name) }
        return try names.map { try OAuthFixture(name: $0, in: folder) }
    }

    init(name: String, in folder: FixtureFolder) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self.name = String(name.dropLast(".json".count))
        content = try decoder.decode(Content.self, from: Data(try folder.bytes(of: name)))
    }

    var description: String { name }
}
