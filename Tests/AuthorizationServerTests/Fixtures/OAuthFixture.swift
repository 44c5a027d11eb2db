import Foundation
import TestSupport
import Testing

/// One case of `Fixtures/oauth`, under the name of its file. It is read by Foundation, and not by the reader
/// of the service. Its members are named in snake case.
struct OAuthFixture<Content: Decodable & Sendable>: Sendable, CustomTestStringConvertible {
    let name: String
    let content: Content

    /// All cases of a folder, in the order of their names.
    static func all(in folder: String) throws -> [OAuthFixture] {
        let folder = FixtureFolder("oauth/\(folder)")
        let names = try folder.names()
        // A test without arguments would pass without having looked at anything.
        try #require(!names.isEmpty)
        return try names.map { try OAuthFixture(name: $0, in: folder) }
    }

    init(name: String, in folder: FixtureFolder) throws {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        self.name = String(name.dropLast(".json".count))
        content = try decoder.decode(Content.self, from: Data(try folder.bytes(of: name)))
    }

    var testDescription: String { name }
}
