import AppleAccounts
import Foundation
import SecurityEvents
import TestSupport
import Testing

@Suite struct SecurityEventTypeTests {
    private static let root = ProjectFolder.root

    @Test func `the page on events has the type of every event, and no other`() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/events.md"), encoding: .utf8)
        let section = try #require(page.split(separator: "## Types of security events").last)
        let rows = section.matches(of: /\| `([a-z_]+)` \| `([^`]+)` \|/).map { [String($0.1), String($0.2)] }
        let types = AccountEvent.Kind.allCases.map { [$0.rawValue, $0.securityEventType.uri] }
        #expect(Set(rows) == Set(types))
        #expect(rows.count == types.count)
    }

    @Test func `an event without a type of OpenID has a URI of its own`() {
        #expect(AccountEvent.Kind.emailChanged.securityEventType.uri == "urn:siwa:event:email-changed")
        let kinds = AccountEvent.Kind.allCases.filter { $0.securityEventType.uri.hasPrefix("urn:") }
        #expect(Set(kinds.map(\.securityEventType)).count == kinds.count)
    }
}
