import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import Foundation
import KeySets
import SecurityEvents
import StrictJSON
import TestSupport
import Testing

@testable import OAuth

/// Plays `Fixtures/security-events-google`.
@Suite struct GoogleEventFixtureTests {
    private static let root = FixtureFolder.root

    private static let names: [String] = {
        let folder = root.appending(path: "security-events-google")
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }()

    private static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: root.appending(path: path)))
    }

    private static func fixture(_ name: String) throws -> JSONValue {
        try JSONValue(parsing: bytes("security-events-google/\(name)"))
    }

    @Test(arguments: names)
    func `a token of Google is judged as the fixture says`(name: String) async throws {
        let fixture = try Self.fixture(name)
        let set = try #require(fixture["key_set"]?.string)
        let keys = try PinnedKeySet(parsing: Self.bytes("key-sets/\(set)"))
        let now = try #require(fixture["at"]?.string.flatMap { Moment(rfc3339: $0) })
        let text = try #require(fixture["token"]?.string)
        let clients = try OAuthWorld().settings.clients.clients
        func read() async throws -> GoogleEventToken {
            try await GoogleEventToken(text, settings: .google, clients: clients, keys: keys, at: now)
        }
        if let code = fixture["code"]?.string {
            let expected = try #require(SecurityEventError.Code(rawValue: code))
            await #expect(throws: SecurityEventError(expected, "")) { try await read() }
            return
        }
        let token = try await read()
        let expected = try #require(fixture["read"])
        let event = try #require(token.events.first)
        #expect(token.events.count == 1)
        #expect(token.jti == expected["jti"]?.string)
        #expect(event.kind.rawValue == expected["kind"]?.string)
        #expect(event.reason?.rawValue == expected["reason"]?.string)
        #expect(token.verificationState == expected["state"]?.string)
        let changes = expected["changes"]?.array?.compactMap(\.string)
        #expect(event.changes.map { Self.words(of: $0) } == changes)
    }

    @Test(arguments: GoogleEventKind.allCases)
    func `every event of Google has a fixture in both forms`(kind: GoogleEventKind) throws {
        let kinds = try Self.names.map { try Self.fixture($0)["read"]?["kind"]?.string }
        #expect(kinds.filter { $0 == kind.rawValue }.count >= 2)
    }

    /// A change in the words of the fixtures.
    private static func words(of change: GoogleEventCommand.Change) -> String {
        switch change {
        case .endFamilies(let account, _, nil): "end all \(account)"
        case .endFamilies(let account, _, let clients?):
            clients.map(\.rawValue) == ["google"] ? "end project \(account)" : "end \(clients)"
        case .endToken(let digest, let clients, let account):
            clients.map(\.rawValue) == ["google"] && account == nil
                ? "end token \(Hexadecimal.encode(digest.bytes))" : "end a token of \(clients)"
        case .disable(let account, _): "disable \(account)"
        case .enable(let account, _): "enable \(account)"
        case .name(let account): "name \(account)"
        }
    }
}
