import AuthorizationServer
import Cryptography
import JOSE
import TestSupport
import Testing

@testable import OAuth
@testable import siwa

/// Findings of `siwa doctor` about the stored keys that sign the service's own tokens.
@Suite(.timeLimit(.hung)) struct TokenSigningKeysCheckTests {
    /// The findings about a database whose keys were made with the sealing key `a`.
    ///
    /// - Parameter url: URL of the database; `nil` for a new file.
    static func findings(
        _ sealingKeys: String, url: String? = nil, oauth: Bool = true, keysMade: Bool = true,
        _ change: (any ServiceStore) async throws -> Void = { _ in }
    ) async throws -> [Finding] {
        try await SigningKeySettingsTests.withDirectory([:]) { directory in
            let url = url ?? "sqlite://\(directory)/siwa.sqlite"
            try await StoredAccounts.with(url: url) { store in
                if keysMade {
                    let keys = SigningKeys(
                        store: store, sealingKeys: try ResealingTests.ring("a"),
                        algorithms: [.ES256, .RS256],
                        schedule: SigningKeySchedule(longestToken: 3_600_000),
                        now: { StoredAccounts.now }, logger: .silent)
                    try await keys.refresh()
                }
                try await change(store)
            }
            var settings = try await SettingsReaderTests.read(
                ["DATABASE_URL": url], file: OAuthSettingsTests.file)
            settings.sealingKeys = try ResealingTests.ring(sealingKeys)
            if !oauth { settings.oauth = nil }
            return await DatabaseCheck(settings: settings).run().filter { $0.check == "OAuth keys" }
        }
    }

    @Test func `keys that open are good, and a database without keys is noted`() async throws {
        #expect(try await Self.findings("a").map(\.verdict) == [.good])
        #expect(try await Self.findings("a", keysMade: false).map(\.verdict) == [.note])
    }

    @Test func `names the sealing key that is missing`() async throws {
        let findings = try await Self.findings("b")
        #expect(findings.map(\.verdict) == [.wrong])
        #expect(findings.first?.text == "keys that sign tokens are sealed by a, which is not configured")
        #expect(findings.first?.advice?.contains("Add that key to SIWA_SEALING_KEYS again") == true)
    }

    @Test func `counts the keys that were changed`() async throws {
        let findings = try await Self.findings("a") { store in
            let keys = try await store.signingKeys()
            #expect(try await store.replaceSealed(keys[0], with: keys[1].sealed))
        }
        #expect(findings.map(\.verdict) == [.wrong])
        #expect(findings.first?.text == "1 of 2 keys that sign tokens cannot be decrypted")
    }

    @Test func `without OAuth clients nothing is said`() async throws {
        #expect(try await Self.findings("b", oauth: false).isEmpty)
    }
}
