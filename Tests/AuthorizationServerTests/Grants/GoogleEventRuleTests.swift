import AppleAccounts
import AuthorizationServer
import Cryptography
import StorageConformance
import Testing

/// RISC: what Google says about a linked Google account, also when events arrive in another order.
@Suite struct GoogleEventRuleTests {
    private let google = "google-sub-1"

    /// Linked through Google's assertion at 2,000,000.
    private func linked() -> GrantDesk {
        var desk = GrantDesk()
        desk.apply(.assertion(.sample(account: GrantDesk.account)))
        return desk
    }

    @Test func `revoked sessions end the grants that are linked with the account, and no others`() {
        var desk = linked()
        desk.link(2)
        desk.apply(.googleEvent(.sample(.endGrants(googleSubject: google, upTo: 2_500_000))))
        #expect(desk.lineNumbers == [2])
        #expect(desk.endings == [.googleRevoked])
        // Google knows it already.
        #expect(desk.deliveries.isEmpty)
    }

    @Test func `a link that was made after the event goes on`() {
        var desk = linked()
        desk.apply(.googleEvent(.sample(.endGrants(googleSubject: google, upTo: 1_999_999))))
        #expect(desk.lineNumbers == [1])
        #expect(desk.endings.isEmpty)
    }

    @Test func `of a grant with older and younger lines the older ones end`() {
        var desk = linked()
        desk.apply(
            .assertion(.sample(2, account: GrantDesk.account, at: 2_600_000)))
        desk.apply(.googleEvent(.sample(.endGrants(googleSubject: google, upTo: 2_500_000))))
        #expect(desk.lineNumbers == [2])
        #expect(desk.endings.isEmpty)
    }

    @Test func `one refresh token is found by all 64 bytes of its double digest`() throws {
        var desk = linked()
        let digest = SampleToken(line: 1).doubleSHA512
        let similar = try #require(SHA512Digest(digest.bytes.dropLast() + [(digest.bytes.last ?? 0) ^ 1]))
        desk.apply(.googleEvent(.sample(.endToken(doubleSHA512: similar), jti: "similar")))
        #expect(desk.lineNumbers == [1])
        desk.apply(.googleEvent(.sample(.endToken(doubleSHA512: digest))))
        #expect(desk.endings == [.googleRevoked])
    }

    @Test func `nothing is linked with a Google account that is disabled`() {
        let desk = GrantDesk()
        var set = GrantWorkingSet([
            .googleEvent(.sample(.disable(googleSubject: google, at: 1_900_000))),
            .assertion(.sample(account: GrantDesk.account)),
            .googleEvent(.sample(.enable(googleSubject: google, at: 1_800_000), jti: "late")),
            .assertion(.sample(2, account: GrantDesk.account)),
            .googleEvent(.sample(.enable(googleSubject: google, at: 1_950_000), jti: "enabled")),
            .assertion(.sample(3, account: GrantDesk.account)),
        ])
        set.load(desk.person)
        var generator = SystemRandomNumberGenerator()
        let results = set.apply(using: &generator)
        let codes = results.map { result -> GrantRefusal.Code? in
            guard case .failure(let error) = result else { return nil }
            return (error as? GrantRefusal)?.code
        }
        #expect(codes == [nil, .googleAccountDisabled, nil, .googleAccountDisabled, nil, nil])
        #expect(set.changedGoogleAccounts.map(\.isDisabled) == [false])
    }

    @Test func `a jti counts once`() {
        let desk = linked()
        var set = GrantWorkingSet([
            .googleEvent(.sample(.other(type: "verification"))),
            .googleEvent(.sample(.endGrants(googleSubject: google, upTo: 2_500_000))),
        ])
        set.load(desk.person)
        set.load(
            grants: Array(desk.grants.values), lines: Array(desk.lines.values), codes: [])
        var generator = SystemRandomNumberGenerator()
        let results = set.apply(using: &generator).compactMap { try? $0.get() }
        #expect(results == [.googleEvent(.applied), .googleEvent(.duplicate)])
        #expect(set.changes.isEmpty)
        #expect(set.newGoogleEvents.count == 1)
    }
}
