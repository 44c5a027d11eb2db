import Cryptography
import Encodings
import Testing

@testable import siwa

@Suite struct SealingSettingsTests {
    static let first = Base64.encode(bytes(1))
    static let second = Base64.encode(bytes(2))

    /// Returns bytes that look random and are the same in every run.
    static func bytes(_ number: Int) -> [UInt8] {
        SHA256Digest.hash("sealing key \(number) of the tests").bytes
    }

    @Test func `no key is needed`() async throws {
        #expect(try await SettingsReaderTests.read(SettingsReaderTests.minimal).sealingKeys == nil)
    }

    @Test(arguments: ["new=\(second), old=\(first)", "new=\(second),old=\(first)"])
    func `several keys stand in the order in which they are written`(value: String) async throws {
        var environment = SettingsReaderTests.minimal
        environment["SIWA_SEALING_KEYS"] = value
        let ring = try #require(try await SettingsReaderTests.read(environment).sealingKeys)
        #expect(ring.keys.map(\.name) == ["new", "old"])
        #expect(
            SealingKeyRing.keyName(of: ring.seal([1], for: SealingPurpose("test"), associatedData: []))
                == "new")
    }

    @Test func `the file has them as a list`() async throws {
        let settings = try await SettingsReaderTests.read(
            SettingsReaderTests.minimal,
            file: "siwa_sealing_keys:\n  - new=\(Self.second)\n  - old=\(Self.first)\n")
        #expect(settings.sealingKeys?.keys.map(\.name) == ["new", "old"])
    }

    @Test(arguments: [
        first, "=\(first)", "a b=\(first)", "a=", "a=AAAA", "a=\(first.dropLast())", "a=\(first),",
        ",a=\(first)",
        "a=\(first),a=\(second)", "a=\(first),b=\(first)",
        "a=\(Base64.encode(Array(repeating: 0, count: 32)))",
        "a=\(Base64.encode(0..<33))", "a=\(Base64.encode(0..<31))", "a=\(first) b=\(second)",
    ])
    func `any other value is a mistake, and the message does not repeat it`(value: String) async throws {
        var environment = SettingsReaderTests.minimal
        environment["SIWA_SEALING_KEYS"] = value
        let error = await #expect(throws: ConfigurationMistakes.self) {
            try await SettingsReaderTests.read(environment)
        }
        let text = try #require(error?.description)
        #expect(text.contains("SIWA_SEALING_KEYS"))
        #expect(!text.contains(Self.first.prefix(8)))
        #expect(!text.contains(Self.second.prefix(8)))
    }
}
