import AppleEmulator
import Foundation
import NIOHTTP1
import StrictJSON
import Testing

/// Compares tokens of the emulator with real tokens of Apple, which are read from the folder in
/// `SIWA_REAL_TOKENS` and are not part of this project.
@Suite struct RealShapeTests {
    struct RealToken: Decodable, Sendable, CustomTestStringConvertible {
        let kind: String
        let jwt: String

        var testDescription: String { "\(kind) \(jwt.suffix(8))" }
    }

    static func all(_ kind: String) throws -> [RealToken] {
        guard let path = ProcessInfo.processInfo.environment["SIWA_REAL_TOKENS"], !path.isEmpty else {
            return []
        }
        let data = try Data(contentsOf: URL(filePath: path).appending(path: "cases.json"))
        return try JSONDecoder().decode([RealToken].self, from: data).filter { $0.kind == kind }
    }

    @Test(arguments: try all("identity-token"))
    func `writes the same bytes as Apple for the same identity`(real: RealToken) async throws {
        try await EmulatorUnderTest.run { apple in
            let apples = try ReadToken(real.jwt)
            if apples.claims["transfer_sub"] != nil {
                _ = try await apple.post("/emulator/transfers", #"{"team_id":"TEAM000002"}"#)
            }
            _ = try await apple.post(
                "/emulator/users",
                #"{"sub":"person","hide_email":\#(apples.claims["is_private_email"] != nil)}"#)
            var recipe = JSONObject([("sub", .string("person")), ("kid", apples.header["kid"] ?? .null)])
            recipe["nonce"] = apples.claims["nonce"]
            if apples.claims["c_hash"] != nil { recipe["code"] = .bool(true) }
            if apples.claims["at_hash"] != nil { recipe["access_token"] = .bool(true) }
            let honest = try await apple.mint(Self.text(recipe))
            // Apple has added claims over the years, so claims that the real token does not have are left
            // out.
            let names = try #require(honest.claims.object).members.map(\.name)
            recipe["claims"] = apples.claims
            recipe["remove_claims"] = .array(
                names.filter { apples.claims[$0] == nil }.map { .string($0) })
            let ours = try await apple.mint(Self.text(recipe))
            #expect(ours.headerText == apples.headerText)
            #expect(ours.claimsText == apples.claimsText)
        }
    }

    @Test(arguments: try all("notification"))
    func `writes the same bytes as Apple for the same notification`(real: RealToken) async throws {
        try await EmulatorUnderTest.run { apple in
            let apples = try ReadToken(real.jwt)
            let event = try JSONValue(parsing: Array(try #require(apples.claims["events"]?.string).utf8))
            var claims = try #require(apples.claims.object)
            claims["events"] = nil
            let recipe = JSONObject([
                ("kid", apples.header["kid"] ?? .null), ("event", event), ("claims", .object(claims)),
            ])
            let ours = try await apple.notify(Self.text(recipe))
            #expect(ours.headerText == apples.headerText)
            #expect(ours.claimsText == apples.claimsText)
        }
    }

    private static func text(_ object: JSONObject) -> String {
        String(decoding: JSONValue.object(object).serialized(), as: UTF8.self)
    }
}
