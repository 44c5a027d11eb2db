import Foundation
import Testing

/// A case with the name of its file. Foundation reads the file, not the reader under test.
struct FixtureFile<Content: Decodable & Sendable>: Sendable, CustomTestStringConvertible {
    let name: String
    let content: Content

    init(_ url: URL) throws {
        name = url.deletingPathExtension().lastPathComponent
        do {
            content = try JSONDecoder().decode(Content.self, from: try Data(contentsOf: url))
        } catch {
            throw FixtureError("\(url.lastPathComponent): \(error)")
        }
    }

    var testDescription: String { name }
}
