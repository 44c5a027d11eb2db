import AppleAccounts
import StorageConformance
import Testing

@testable import AuthorizationServer

/// A user who agrees and revokes again and again adds two events to the feed each time.
@Suite struct GrantPaceTests {
    private func pace() -> GrantPace {
        GrantPace(accountID: GrantDesk.account, oauthClientID: "phone", begunAt: 1000)
    }

    @Test func `so many grants are new within an hour, and no more`() {
        var pace = pace()
        let counted = (0..<GrantPace.most).map { _ in pace.countGrant(at: 1000) }
        #expect(!counted.contains(false))
        let full = pace
        let isOneMore = pace.countGrant(at: 3_600_999)
        #expect(!isOneMore && pace == full)
        let isLaterOne = pace.countGrant(at: 3_601_000)
        #expect(isLaterOne)
        #expect(pace.begunAt == 3_601_000)
        #expect(pace.count == 1)
    }

    @Test func `a refused grant changes nothing, and one that goes on is not new`() {
        let full = GrantDesk.fullPace
        var set = GrantWorkingSet([
            .authorize(.sample(1, account: GrantDesk.account)),
            .authorize(.sample(2, account: GrantDesk.account, client: "tablet")),
            .authorize(.sample(3, account: GrantDesk.account, client: "tablet")),
        ])
        set.load(GrantDesk().user)
        set.load(full)
        var generator = SystemRandomNumberGenerator()
        let results = set.applyCommands(using: &generator)
        #expect(throws: GrantRefusal(.tooManyGrants)) { try results[0].get() }
        #expect(set.events.count == 1)
        #expect(set.changes.grants.map(\.oauthClientID) == ["tablet"])
        #expect(set.changedPaces.map(\.count) == [1])
    }

    @Test func `a native sign-in past the pace gives no token`() {
        var set = GrantWorkingSet([.exchange(.sample(account: GrantDesk.account))])
        set.load(GrantDesk().user)
        set.load(GrantDesk.fullPace)
        var generator = SystemRandomNumberGenerator()
        let results = set.applyCommands(using: &generator)
        #expect(throws: GrantRefusal(.tooManyGrants)) { try results[0].get() }
        #expect(set.events.isEmpty && set.changes.families.isEmpty && set.changedPaces.isEmpty)
    }
}

extension GrantDesk {
    fileprivate static var fullPace: GrantPace {
        GrantPace(
            accountID: account, oauthClientID: "phone", begunAt: 1_999_000, count: GrantPace.most)
    }
}
