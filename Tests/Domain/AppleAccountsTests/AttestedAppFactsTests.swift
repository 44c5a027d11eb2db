import AppleAccounts
import Testing

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
