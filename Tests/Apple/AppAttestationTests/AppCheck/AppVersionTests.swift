import Testing

@testable import AppAttestation

@Suite struct AppVersionTests {
    @Test(arguments: [
        ("4.9", "4.10"), ("4", "4.0.1"), ("0", "0.0.0.1"), ("09", "10"), ("1.2.3", "1.2.4"),
        ("1.999999999", "2"), ("4.2.9.9", "4.3"),
    ])
    func `compares each part as a number`(older: String, newer: String) throws {
        let (older, newer) = (try #require(AppVersion(older)), try #require(AppVersion(newer)))
        #expect(older < newer)
        #expect(!(newer < older))
        #expect(older != newer)
    }

    @Test(arguments: [("4.2", "4.2.0"), ("4", "4.0.0.0"), ("0", "0.0"), ("1.02", "1.2")])
    func `treats a missing part as 0`(one: String, other: String) throws {
        let (one, other) = (try #require(AppVersion(one)), try #require(AppVersion(other)))
        #expect(one == other)
        #expect(!(one < other) && !(other < one))
    }

    @Test(arguments: [
        "", ".", "4.", ".4", "4..2", "4.2-beta", "v4", " 4", "4 ", "+4", "-4", "4.2.1.0.0", "1234567890",
        "4,2", "٤", "4\u{0}", "0x4", "4e2", String(repeating: "1.", count: 10_000) + "1",
    ])
    func `refuses any other text`(text: String) {
        #expect(AppVersion(text) == nil)
    }

    @Test func `accepts the longest version`() throws {
        let longest = "999999999.999999999.999999999.999999999"
        #expect(try #require(AppVersion(longest)).description == longest)
    }

    @Test func `is shown without zeros at its end`() {
        #expect(AppVersion("4.2.0")?.description == "4.2")
        #expect(AppVersion("0.0")?.description == "0")
    }
}
