import AppleAccounts
import AuthorizationServer
import StorageConformance
import Testing

/// One grant per client and account: each authorization adds a token family, and the end of the last token
/// family ends the grant.
@Suite struct LastFamilyTests {
    @Test func `each authorization adds a family to the one grant, and widens its scope`() {
        var desk = GrantDesk()
        desk.link(1)
        desk.apply(.authorize(.sample(2, account: GrantDesk.account, scope: "email openid", at: 2_050_000)))
        desk.apply(.redeem(.sample(2, at: 2_060_000)))
        #expect(desk.grants.count == 1)
        #expect(desk.grants.values.first?.scope == "openid offline_access email")
        #expect(desk.families[.sample(2)]?.scope == "email openid")
        #expect(desk.events.map(\.kind) == [.grantCreated])
    }

    @Test func `the last family ends the grant, and the one before it does not`() {
        var desk = GrantDesk()
        desk.link(1)
        desk.link(2)
        desk.apply(.revoke(.sample(SampleToken(family: 1))))
        #expect(desk.endings.isEmpty)
        desk.apply(.revoke(.sample(SampleToken(family: 2))))
        #expect(desk.endings == [.clientRevoked])
        #expect(desk.grants.isEmpty && desk.families.isEmpty && desk.codes.isEmpty)
    }

    @Test func `a code that waits keeps the grant`() {
        var desk = GrantDesk()
        desk.link(1)
        desk.authorizeCode(2, at: 2_050_000)
        desk.apply(.revoke(.sample(SampleToken(family: 1))))
        #expect(desk.grants.count == 1)
        #expect(desk.apply(.redeem(.sample(2, at: 2_250_000))).issued != nil)
    }

    @Test func `families and codes past their end do not keep the grant`() {
        var desk = GrantDesk()
        desk.link(1)
        desk.authorizeCode(2, at: 2_050_000)
        desk.apply(.revoke(.sample(SampleToken(family: 1), at: 2_650_000)))
        #expect(desk.endings == [.clientRevoked])
    }

    @Test func `an access token takes its refresh token along`() {
        var desk = GrantDesk()
        desk.link(1)
        desk.link(2)
        desk.apply(
            .revoke(
                RevokeCommand(
                    oauthClientID: "phone", token: .access(familyID: .sample(1)), moment: 2_200_000)))
        #expect(desk.lineNumbers == [2])
    }

    @Test func `an old token of a rotated family revokes it too`() {
        var desk = GrantDesk()
        desk.link(1)
        desk.apply(.refresh(.sample()))
        desk.apply(.revoke(.sample(SampleToken(family: 1))))
        #expect(desk.endings == [.clientRevoked])
    }

    @Test func `a token of another client is left alone, and the answer is the same`() {
        var desk = GrantDesk()
        desk.link(1)
        for command in [
            RevokeCommand.sample(client: "tablet"), .sample(SampleToken(family: 9)),
            RevokeCommand(oauthClientID: "tablet", token: .access(familyID: .sample(1)), moment: 2_200_000),
        ] {
            #expect(desk.apply(.revoke(command)) == .success(.revoked))
        }
        #expect(desk.lineNumbers == [1])
        #expect(desk.endings.isEmpty)
    }

    @Test func `the app's backend ends a grant with all families and codes, once`() throws {
        var desk = GrantDesk()
        desk.link(1)
        desk.authorizeCode(2)
        let id = try #require(desk.grants.keys.first)
        #expect(desk.apply(.end(.sample(id, of: GrantDesk.account))).refusal == nil)
        #expect(desk.endings == [.unlinked])
        #expect(desk.families.isEmpty && desk.codes.isEmpty)
        #expect(desk.apply(.end(.sample(id, of: GrantDesk.account))).refusal == .grantNotFound)
        #expect(desk.endings.count == 1)
    }

    @Test func `a grant of an app that the caller may not see, or of another account, does not exist`() throws
    {
        var desk = GrantDesk()
        desk.link(1)
        let id = try #require(desk.grants.keys.first)
        for command in [
            EndGrantCommand.sample(id, of: GrantDesk.account, scope: .only(["com.example.other"])),
            .sample(id, of: AccountID(.sample(78))),
        ] {
            #expect(desk.apply(.end(command)).refusal == .grantNotFound)
        }
        #expect(desk.grants.count == 1)
    }

    /// RISC: Google receives an event for each of its refresh tokens that siwa ends, and no event for a token
    /// that Google ended.
    @Test func `Google is told of what ends here, and not of what it has revoked itself`() throws {
        var desk = GrantDesk()
        desk.link(1, client: "google", isNative: false, forGoogle: true)
        desk.link(2, client: "google", isNative: false, forGoogle: true)
        desk.link(3, client: "google", isNative: false, forGoogle: true)
        desk.apply(.revoke(.sample(SampleToken(family: 1), client: "google")))
        #expect(desk.reported.isEmpty)
        let id = try #require(desk.grants.keys.first)
        desk.apply(.end(.sample(id, of: GrantDesk.account)))
        #expect(
            Set(desk.reported)
                == [SampleToken(family: 2).doubleSHA512, SampleToken(family: 3).doubleSHA512])
    }
}
