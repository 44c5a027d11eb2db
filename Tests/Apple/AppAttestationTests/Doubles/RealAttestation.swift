import Foundation
import Testing

/// Objects that a device of Apple made. They are third-party data and not part of this project: a test run
/// reads them from the folder in `SIWA_REAL_ATTESTATIONS`.
struct RealAttestation: Decodable, Sendable, CustomTestStringConvertible {
    struct Assertion: Decodable, Sendable {
        let assertion: Data
        let counter: UInt32
        let clientDataHash: Data
    }

    struct Receipt: Decodable, Sendable {
        let cmsSignatureVerifies: Bool
        let type: String
        let environment: String
    }

    struct AuthData: Decodable, Sendable {
        let extensions: [String: String]?
    }

    static let fewest = 31

    let name: String
    let teamId: String
    let bundleId: String
    let environment: String
    let keyId: String
    let publicKeyX963: Data
    let clientDataHash: Data?
    let attestation: Data?
    let assertions: [Assertion]
    let verifyAt: Date?
    let leafNotAfter: Date?
    let authData: AuthData?
    let receipt: Receipt?

    var testDescription: String { name }

    /// Returns no objects without a folder. Throws when the folder is incomplete.
    static func all() throws -> [RealAttestation] {
        guard let path = ProcessInfo.processInfo.environment["SIWA_REAL_ATTESTATIONS"], !path.isEmpty else {
            return []
        }
        let folder = URL(filePath: path)
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".json") }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .custom { decoder in
            let text = try decoder.singleValueContainer().decode(String.self)
            // Seconds are enough.
            let whole = text.replacing(/\.\d+/, with: "")
            return try Date(whole, strategy: .iso8601)
        }
        let objects = try names.sorted().map { name in
            try decoder.decode(RealAttestation.self, from: Data(contentsOf: folder.appending(path: name)))
        }
        try #require(objects.count >= fewest, "only \(objects.count) real objects")
        return objects
    }

    static func attested() throws -> [RealAttestation] { try all().filter { $0.attestation != nil } }
    static func asserted() throws -> [RealAttestation] { try all().filter { !$0.assertions.isEmpty } }
}
