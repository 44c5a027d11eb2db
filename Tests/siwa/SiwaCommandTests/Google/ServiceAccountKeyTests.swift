import Foundation
import JOSE
import StrictJSON
import TestSupport
import Testing

@testable import siwa

/// The JSON key file of a service account, and the token that it signs.
@Suite struct ServiceAccountKeyTests {
    private static let pem = Result { try RSAPrivateKey.generate(bits: 2048).pem }

    static func file(_ changes: [String: JSONValue?] = [:]) throws -> [UInt8] {
        var file = JSONObject([
            ("type", .string("service_account")), ("project_id", .string("home-link")),
            ("private_key_id", .string("key-1")), ("private_key", .string(try pem.get())),
            ("client_email", .string("risc@home-link.iam.gserviceaccount.invalid")),
        ])
        for (name, value) in changes { file[name] = value }
        return JSONValue.object(file).serialized()
    }

    static func key(_ changes: [String: JSONValue?] = [:]) throws -> ServiceAccountKey {
        try ServiceAccountKey(json: file(changes), name: "key.json")
    }

    @Test func `the token is the account's own, for an hour, in RS256`() throws {
        let key = try Self.key()
        let segments = try #require(JWSSegments(compact: try key.token(at: 1_800_000_000)))
        let header = try JSONValue(parsing: segments.header)
        #expect(header["alg"]?.string == "RS256" && header["kid"]?.string == "key-1")
        let claims = try JSONValue(parsing: segments.payload)
        #expect(claims["iss"]?.string == key.email && claims["sub"]?.string == key.email)
        #expect(
            claims["aud"]?.string
                == "https://risc.googleapis.com/google.identity.risc.v1beta.RiscManagementService")
        #expect(claims["iat"]?.integer == 1_800_000_000 && claims["exp"]?.integer == 1_800_003_600)
        let publicKey = try RSAPrivateKey(pem: Self.pem.get()).publicKey()
        #expect(publicKey.isValidSignature(segments.signature, for: segments.signingInput[...]))
    }

    @Test(
        arguments: [
            ["type": .string("authorized_user")], ["type": nil], ["client_email": nil],
            ["client_email": .string("no address")], ["client_email": .string("a@b\n")],
            ["client_email": .string("x")], ["private_key_id": nil], ["private_key_id": .string("")],
            ["private_key": nil], ["private_key": .string("x")],
            ["private_key": .string("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")],
        ] as [[String: JSONValue?]])
    func `refuses a file that is none, and repeats no secret`(changes: [String: JSONValue?]) throws {
        let error = try #require(throws: EventStreamError.self) { try Self.key(changes) }
        #expect(error.code == .keyMalformed)
        #expect(!"\(error)".contains("BEGIN"))
    }

    @Test(arguments: ["", "[]", "{", "\u{0}", "-----BEGIN PRIVATE KEY-----"])
    func `refuses what is no JSON object`(text: String) {
        #expect(throws: EventStreamError(.keyMalformed, "")) {
            try ServiceAccountKey(json: Array(text.utf8), name: "key.json")
        }
    }

    @Test func `refuses a missing, an empty and an endless file`() async throws {
        try await TemporaryDirectory.with { directory in
            for (name, size) in [("none", nil), ("empty", 0), ("long", 16_385)] as [(String, Int?)] {
                let path = directory.path(of: name)
                if let size { try Data(repeating: 0x20, count: size).write(to: URL(fileURLWithPath: path)) }
                #expect(throws: EventStreamError.self) { try ServiceAccountKey(file: path) }
            }
            #expect(throws: EventStreamError(.keyUnreadable, "")) {
                try ServiceAccountKey(file: "/dev/zero")
            }
        }
    }

    @Test func `the private key is in no description`() throws {
        let key = try Self.key()
        var dumped = ""
        dump(key, to: &dumped)
        for text in ["\(key)", String(reflecting: key), dumped] {
            #expect(!text.contains("PRIVATE KEY"))
            #expect(text.contains("key-1"))
        }
    }

    @Test(arguments: [
        ("a@b.iam.gserviceaccount.com", true), ("a@b.iam.gserviceaccount.invalid", false),
    ])
    func `a token of Google's own account goes to Google alone`(email: String, isGoogle: Bool) throws {
        let key = try Self.key(["client_email": .string(email)])
        #expect(key.isOfGoogle == isGoogle)
    }
}
