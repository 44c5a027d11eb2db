import AuthorizationServer
import Testing

@testable import siwa

@Suite struct NearestNameTests {
    @Test(arguments: [
        ("", "", 0), ("abc", "abc", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 2),
    ])
    func `the distance counts single edits`(lhs: String, rhs: String, distance: Int) {
        #expect(NearestName.distance(lhs, rhs) == distance)
        #expect(NearestName.distance(rhs, lhs) == distance)
    }

    @Test(arguments: [
        ("client_id", "oauth.clients", "id"), ("client_name", "oauth.clients", "name"),
        ("client_secret", "oauth.clients", "secret_hashes"),
        ("redirect_uri", "oauth.clients", "redirect_uris"),
        ("scope", "oauth.clients", "scopes"),
        ("scope_name", "oauth.scopes", "name"), ("api_key_hash", "api_keys", "hash"),
        ("siwa_prot", "", "siwa_port"),
    ])
    func `a member with the noun of its entry before it is the member`(
        name: String, path: String, meant: String
    ) {
        let known =
            switch path {
            case "oauth.clients": ClientMember.all.map(\.name)
            case "oauth.scopes": ScopeDraft.members.map(\.name)
            case "api_keys": SettingsFile.Key.members.map(\.name)
            default: Setting.ofFile.map(\.nameInFile)
            }
        #expect(NearestName.of(name, among: known, inListNamed: path) == meant)
    }

    @Test func `without candidates there is no nearest name`() {
        #expect(NearestName.of("a", among: []) == nil)
    }
}
