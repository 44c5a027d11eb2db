import Foundation
import TestSupport

extension FixtureFolder {
    /// All cases, in the order of their names.
    func files<Content: Decodable>(of type: Content.Type = Content.self) throws -> [FixtureFile<Content>] {
        let files = try names().map { try FixtureFile<Content>(url.appending(path: $0)) }
        guard !files.isEmpty else { throw FixtureError("\(url.lastPathComponent) is empty") }
        return files
    }
}
