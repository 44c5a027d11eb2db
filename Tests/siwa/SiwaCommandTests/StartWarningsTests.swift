import Testing

@testable import siwa

@Suite struct StartWarningsTests {
    private static func warnings(_ changes: [String: String], file: String? = nil) async throws -> [String] {
        let settings = try await SettingsReaderTests.read(
            SettingsReaderTests.minimal.merging(changes) { $1 }, file: file)
        return StartWarnings(settings).texts
    }

    @Test func `a usual configuration has none`() async throws {
        #expect(try await Self.warnings([:]).isEmpty)
        let settings = try await SettingsReaderTests.read([:], file: OAuthSettingsTests.file)
        #expect(StartWarnings(settings).texts.isEmpty)
    }

    @Test func `an issuer on another host than the public URL is named`() async throws {
        let file = OAuthSettingsTests.file.replacing(
            "oauth:\n", with: "oauth:\n  issuer: https://other.example.net\n", maxReplacements: 1)
        let settings = try await SettingsReaderTests.read([:], file: file)
        let texts = StartWarnings(settings).texts
        #expect(
            texts.count == 1 && texts[0].hasPrefix("oauth.issuer has the host other.example.net"), "\(texts)")
    }

    @Test(arguments: [("AuthKey_K1L2M3N4O5.p8", 1), ("AuthKey_A1B2C3D4E5.p8", 0), ("apple.p8", 0)])
    func `a key ID that is not the file's is named`(name: String, count: Int) async throws {
        try await SigningKeySettingsTests.withDirectory([name: SettingsReaderTests.privateKey]) { path in
            let texts = try await Self.warnings([
                "APPLE_PRIVATE_KEY_FILE": "\(path)/\(name)", "APPLE_KEY_ID": "A1B2C3D4E5",
            ])
            #expect(texts.count == count, "\(texts)")
            #expect(texts.allSatisfy { $0.contains("is named for key K1L2M3N4O5") })
        }
    }
}
