import Testing

@testable import siwa

@Suite struct CheckSettingsTests {
    @Test func `the defaults are a day and 25 per second`() async throws {
        let settings = try await SettingsReaderTests.read(SettingsReaderTests.minimal)
        #expect(settings.numbers[.checkInterval] == 86_400)
        #expect(settings.numbers[.checksPerSecond] == 25)
    }

    @Test func `are read`() async throws {
        let settings = try await SettingsReaderTests.read(
            SettingsReaderTests.minimal.merging([
                "SIWA_CHECK_INTERVAL": "172800", "SIWA_CHECKS_PER_SECOND": "100",
            ]) { $1 })
        #expect(settings.numbers[.checkInterval] == 172_800)
        #expect(settings.numbers[.checksPerSecond] == 100)
    }

    @Test func `less than a day is for development only, because Apple throttles it`() async throws {
        #expect(
            try await SettingsReaderTests.mistakes(["SIWA_CHECK_INTERVAL": "86399"]) == [
                "SIWA_CHECK_INTERVAL"
            ])
        let development = ["SIWA_CHECK_INTERVAL": "5", "SIWA_ENV": "development"]
        #expect(try await SettingsReaderTests.mistakes(development).isEmpty)
    }

    @Test(arguments: [
        ("SIWA_CHECK_INTERVAL", "0"), ("SIWA_CHECK_INTERVAL", "-1"), ("SIWA_CHECK_INTERVAL", "24h"),
        ("SIWA_CHECK_INTERVAL", "2592001"), ("SIWA_CHECK_INTERVAL", "99999999999999999999"),
        ("SIWA_CHECKS_PER_SECOND", "0"), ("SIWA_CHECKS_PER_SECOND", "1001"),
        ("SIWA_CHECKS_PER_SECOND", "2.5"),
    ])
    func `any other value is a mistake`(name: String, value: String) async throws {
        let development = [name: value, "SIWA_ENV": "development"]
        #expect(try await SettingsReaderTests.mistakes(development) == [name])
    }
}
