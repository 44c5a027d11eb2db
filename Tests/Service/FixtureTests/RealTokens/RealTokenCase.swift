import Foundation
import Testing

/// A token that Apple signed. Such tokens are third-party data and not part of this project: a test run reads
/// them from the folder in `SIWA_REAL_TOKENS`.
struct RealTokenCase: Decodable, Sendable, CustomTestStringConvertible {
    enum CodingKeys: String, CodingKey {
        case kind, jwt, jwks, at
        case clientID = "client_id"
    }

    static let fewest = 13

    let kind: TokenCase.Kind
    let jwt: String
    let jwks: String
    let clientID: String
    let at: Timestamp

    static var folder: URL? {
        guard let path = ProcessInfo.processInfo.environment["SIWA_REAL_TOKENS"], !path.isEmpty else {
            return nil
        }
        return URL(filePath: path)
    }

    /// Returns no cases without a folder. Throws when the folder is incomplete.
    static func all() throws -> [RealTokenCase] {
        guard let folder else { return [] }
        let data = try Data(contentsOf: folder.appending(path: "cases.json"))
        let cases = try JSONDecoder().decode([RealTokenCase].self, from: data)
        guard cases.count >= fewest else { throw FixtureError("only \(cases.count) real tokens") }
        return cases
    }

    /// Another key under one of Apple's key IDs.
    static func decoy() throws -> [UInt8] {
        guard let folder else { throw FixtureError("no folder of real tokens") }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        guard let name = names.first(where: { $0.hasPrefix("decoy") }) else { throw FixtureError("no decoy") }
        return Array(try Data(contentsOf: folder.appending(path: name)))
    }

    func keySet() throws -> [UInt8] {
        guard let folder = Self.folder else { throw FixtureError("no folder of real tokens") }
        return Array(try Data(contentsOf: folder.appending(path: jwks)))
    }

    var testDescription: String { "\(kind.rawValue) for \(clientID)" }
}
