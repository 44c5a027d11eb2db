import AppleAccounts
import StorageConformance
import TestSupport
import Testing

@Suite struct DeploymentTests {
    static let app = App(
        team: "A1B2C3D4E5", primaryClientID: "com.example.app",
        otherClientIDs: ["com.example.web", "com.example.app"])
    static let other = App(team: "OTHERTEAM1", primaryClientID: "org.example.app")

    @Test func `finds the app of each of its client IDs`() throws {
        let deployment = try Deployment(apps: [Self.app, Self.other])
        #expect(deployment.app(for: "com.example.app") == Self.app)
        #expect(deployment.app(for: "com.example.web") == Self.app)
        #expect(deployment.app(for: "org.example.app") == Self.other)
        #expect(deployment.clientIDs == ["com.example.app", "com.example.web", "org.example.app"])
    }

    @Test(
        arguments: ["COM.EXAMPLE.APP", "com.example", "com.example.app ", "com.example.\u{212A}"]
            as [ClientID])
    func `finds no app of another client ID`(clientID: ClientID) throws {
        #expect(try Deployment(apps: [Self.app]).app(for: clientID) == nil)
    }

    @Test func `refuses a client ID in two apps`() {
        #expect(throws: DeploymentError(.clientIDInTwoApps, detail: "")) {
            try Deployment(apps: [
                Self.app, App(team: "OTHERTEAM1", primaryClientID: "x", otherClientIDs: ["com.example.web"]),
            ])
        }
    }

    @Test func `refuses to have no app`() {
        #expect(throws: DeploymentError(.noApps, detail: "")) { try Deployment(apps: []) }
    }
}

@Suite struct AttestedAppFactsTests {
    @Test(arguments: ["1", "2.0.1", "é", String(repeating: "9", count: 64)])
    func `keeps a bundle version as it is`(version: String) {
        #expect(AttestedAppFacts(bundleVersion: version).bundleVersion == version)
    }

    @Test(arguments: [
        "", "1\u{0}", "1\n2", "\u{7F}", String(repeating: "9", count: 65), String(repeating: "é", count: 33),
        String(repeating: "1", count: 4000),
    ])
    func `drops a bundle version that no store may keep`(version: String) {
        let facts = AttestedAppFacts(validationCategory: 4, bundleVersion: version)
        #expect(facts == AttestedAppFacts(validationCategory: 4))
    }
}

@Suite struct MomentTests {
    static let pairs: [(Int64, String)] = [
        (0, "1970-01-01T00:00:00.000Z"),
        (1, "1970-01-01T00:00:00.001Z"),
        (951_782_399_000, "2000-02-28T23:59:59.000Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_709_251_199_990, "2024-02-29T23:59:59.990Z"),
        (1_795_222_254_000, "2026-11-21T00:50:54.000Z"),
        (1_795_222_254_123, "2026-11-21T00:50:54.123Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
    ]

    @Test(arguments: pairs) func `is written and read as RFC 3339`(milliseconds: Int64, text: String) {
        #expect(Moment(milliseconds: milliseconds).rfc3339 == text)
        #expect(Moment(rfc3339: text) == Moment(milliseconds: milliseconds))
    }

    @Test(
        arguments: [
            ("2026-11-21T01:50:54+01:00", 1_795_222_254_000),
            ("2026-11-20T19:20:54-05:30", 1_795_222_254_000),
            ("2026-11-21T00:50:54Z", 1_795_222_254_000),
            ("2026-11-21t00:50:54z", 1_795_222_254_000), ("2026-11-21T00:50:54.1Z", 1_795_222_254_100),
            ("2026-11-21T00:50:54.12Z", 1_795_222_254_120),
            ("2026-11-21T00:50:54.123999999Z", 1_795_222_254_123), ("1970-01-01T01:00:00+01:00", 0),
            ("2026-11-21T00:50:54-00:00", 1_795_222_254_000),
        ] as [(String, Int64)])
    func `is read from any offset and precision`(text: String, milliseconds: Int64) {
        #expect(Moment(rfc3339: text) == Moment(milliseconds: milliseconds))
    }

    @Test(arguments: [
        "", "2026", "2026-11-21", "2026-11-21T00:50:54", "2026-11-21 00:50:54Z", "2026-11-21T00:50Z",
        "20261121T005054Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z",
        "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-11-21T24:00:00Z",
        "2026-11-21T00:60:00Z", "2016-12-31T23:59:60Z", "2026-11-21T00:50:54.Z",
        "2026-11-21T00:50:54.1234567890Z",
        "2026-11-21T00:50:54+24:00", "2026-11-21T00:50:54+0100", "2026-11-21T00:50:54ZZ",
        "2026-11-21T00:50:54Z ",
        " 2026-11-21T00:50:54Z", "+026-11-21T00:50:54Z", "1969-12-31T23:59:59Z", "9999-12-31T23:59:59-00:01",
        "2026-11-21T00:50:54\u{FF3A}", "２026-11-21T00:50:54Z", "2026-11-21T00:50:54Z\u{0}",
    ])
    func `refuses what is not RFC 3339`(text: String) { #expect(Moment(rfc3339: text) == nil) }

    @Test func `comes back the same from its text`() {
        var generator = SeededGenerator(seed: 3339)
        for _ in 0..<5000 {
            let moment = Moment(milliseconds: Int64.random(in: 0...253_402_300_799_999, using: &generator))
            #expect(Moment(rfc3339: moment.rfc3339) == moment)
        }
    }

    @Test(arguments: [Int64.min, -1, 253_402_300_800_000, Int64.max])
    func `stays in the years of four digits`(milliseconds: Int64) {
        let nearest: Moment = milliseconds < 0 ? 0 : .last
        #expect(Moment(milliseconds: milliseconds) == nearest)
        #expect(Moment(seconds: milliseconds).milliseconds / 1000 == nearest.milliseconds / 1000)
        #expect((milliseconds < 0 ? 0 : Moment.last).advanced(byMilliseconds: milliseconds) == nearest)
        #expect(Moment.last.advanced(byMilliseconds: Int64.max) == .last)
    }
}
