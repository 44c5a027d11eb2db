import AppleIdentity
import Foundation
import KeySets
import Testing

@Suite struct RealTokenTests {
    @Test(arguments: try RealTokenCase.all())
    func `accepts what Apple signed`(real: RealTokenCase) async throws {
        try await verify(real)
    }

    @Test(arguments: try RealTokenCase.all().filter { $0.kind == .identityToken })
    func `calls a relay address private, and no other address public unasked`(real: RealTokenCase)
        async throws
    {
        let keys = try PinnedKeySet(parsing: try real.keySet())
        let identity = try await IdentityTokenVerifier(policy: VerificationPolicy(clientIDs: [real.clientID]))
            .verify(
                real.jwt, keys: keys, expecting: IdentityTokenExpectations(), at: try real.at.date(after: 0))
        let isRelay = identity.email?.hasSuffix("@privaterelay.appleid.com") == true
        #expect(identity.isPrivateEmail == (isRelay ? true : nil))
    }

    @Test(arguments: try RealTokenCase.all())
    func `refuses it for another client ID`(real: RealTokenCase) async throws {
        await #expect(throws: AppleTokenError(.audienceMismatch)) {
            try await verify(real, clientID: real.clientID + ".other")
        }
    }

    @Test(arguments: try RealTokenCase.all())
    func `refuses it two days later`(real: RealTokenCase) async throws {
        await #expect(throws: AppleTokenError(.tokenExpired)) {
            try await verify(real, later: 2 * 86400)
        }
    }

    @Test(arguments: try RealTokenCase.all())
    func `refuses it under another key`(real: RealTokenCase) async throws {
        let isLabelled = try UnverifiedToken(real.jwt).keyID == "AIDOPK1"
        await #expect(throws: AppleTokenError(isLabelled ? .signatureInvalid : .unknownKey)) {
            try await verify(real, keySet: RealTokenCase.decoy())
        }
    }

    @Test(arguments: try RealTokenCase.all())
    func `refuses it with one bit of the signature changed`(real: RealTokenCase) async throws {
        // The character before the last carries six bits of the signature and no unused ones.
        let position = real.jwt.index(real.jwt.endIndex, offsetBy: -2)
        var changed = real.jwt
        changed.replaceSubrange(position...position, with: real.jwt[position] == "A" ? "B" : "A")
        await #expect(throws: AppleTokenError(.signatureInvalid)) {
            try await verify(real, token: changed)
        }
    }

    private func verify(
        _ real: RealTokenCase, token: String? = nil, clientID: String? = nil, later: Int64 = 0,
        keySet: [UInt8]? = nil
    ) async throws {
        let policy = VerificationPolicy(clientIDs: [clientID ?? real.clientID])
        let keys = try PinnedKeySet(parsing: try keySet ?? real.keySet())
        let now = try real.at.date(after: later)
        switch real.kind {
        case .identityToken:
            _ = try await IdentityTokenVerifier(policy: policy)
                .verify(token ?? real.jwt, keys: keys, expecting: IdentityTokenExpectations(), at: now)
        case .notification:
            _ = try await NotificationVerifier(policy: policy).verify(token ?? real.jwt, keys: keys, at: now)
        }
    }
}

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
