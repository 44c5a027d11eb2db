import Encodings
import Foundation
import JOSE
import TestSupport
import Testing

/// The classes of forged signatures in `Fixtures/rsa-signatures`.
@Suite struct RSASignatureFixtureTests {
    struct Document: Decodable {
        enum CodingKeys: String, CodingKey {
            case wycheproofClass = "class"
            case key, cases
        }

        let wycheproofClass: String
        let key: Key
        let cases: [Case]
    }

    struct Key: Decodable {
        let n, e: String
    }

    struct Case: Decodable {
        let name, message, signature, verdict: String
    }

    static let folder = FixtureFolder("rsa-signatures")

    private static func document(_ name: String) throws -> Document {
        try JSONDecoder().decode(Document.self, from: Data(try folder.bytes(of: name)))
    }

    @Test func `has every class of Wycheproof`() throws {
        let documents = try Self.folder.names().map { try Self.document($0) }
        let classes = Set(documents.map(\.wycheproofClass))
        #expect(
            classes == [
                "Valid", "BerEncodedPadding", "InvalidAsnInPadding", "ModifiedPadding", "MissingNull",
                "WrongHash", "NoHash", "InvalidPadding", "ShortPadding", "SignatureMalleability",
                "InvalidSignature", "SmallSignature", "EdgeCaseSignature", "WrongPrimitive", "SmallPublicKey",
            ])
        #expect(documents.map(\.cases.count).reduce(0, +) >= 1200)
    }

    @Test(arguments: try folder.names())
    func `judges each signature as its file says, and so does OpenSSL`(file: String) throws {
        let document = try Self.document(file)
        let modulus = try #require(Hexadecimal.decode(document.key.n))
        let exponent = try #require(Hexadecimal.decode(document.key.e))
        guard exponent == [1, 0, 1] else {
            #expect(throws: JOSEError(.keyUnusable)) {
                try RSAPublicKey(modulus: modulus, exponent: exponent)
            }
            #expect(document.cases.allSatisfy { $0.verdict == "refused" })
            return
        }
        let key = try RSAPublicKey(modulus: modulus, exponent: exponent)
        let openSSL = try OpenSSLKey(modulus: modulus, exponent: exponent)
        for item in document.cases {
            let message = try #require(Hexadecimal.decode(item.message))
            let signature = try #require(Hexadecimal.decode(item.signature))
            let isAccepted = item.verdict == "accepted"
            #expect(isAccepted || item.verdict == "refused")
            #expect(key.isValidSignature(signature, for: message[...]) == isAccepted, "\(item.name)")
            #expect(openSSL.isValid(signature, for: message) == isAccepted, "\(item.name)")
        }
    }
}
