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

    @Test func `so many token families begin within an hour, and no more`() {
        var pace = pace()
        let counted = (0..<GrantPace.mostFamilies).map { _ in pace.countFamily(at: 1000) }
        #expect(!counted.contains(false) && GrantPace.mostFamilies == 100)
        let full = pace
        let isOneMore = pace.countFamily(at: 3_600_999)
        #expect(!isOneMore && pace == full)
        // New grants have a bound of their own.
        let isGrant = pace.countGrant(at: 3_600_999)
        #expect(isGrant)
        let isLaterOne = pace.countFamily(at: 3_601_000)
        #expect(isLaterOne && pace.families == 1 && pace.count == 0)
    }

    /// Every grant type that begins a token family.
    @Test(
        arguments: [
            .redeem(.sample(1)),
            .pollDevice(PollDeviceCommand(.sample(1, redirectURI: PollDeviceCommand.redirectURI))),
            .exchange(.sample(2, account: GrantDesk.account)),
            .assertion(.sample(2, account: GrantDesk.account, client: "phone")),
        ] as [GrantCommand])
    func `no grant type begins a token family past the pace, and nothing changes`(command: GrantCommand) {
        for isFull in [true, false] {
            var desk = GrantDesk()
            if case .pollDevice = command {
                desk.apply(
                    .authorize(
                        .sample(1, account: GrantDesk.account, redirectURI: PollDeviceCommand.redirectURI)))
            } else {
                desk.authorizeCode()
            }
            var set = desk.set([command])
            if isFull {
                set.load(
                    GrantPace(
                        accountID: GrantDesk.account, oauthClientID: "phone", begunAt: 1_999_000,
                        families: GrantPace.mostFamilies))
            }
            var generator = SystemRandomNumberGenerator()
            switch set.applyCommands(using: &generator)[0] {
            case .success: #expect(!isFull && set.changedPaces.map(\.families) == [1])
            case .failure(let error):
                #expect(isFull && (error as? GrantRefusal)?.code == .tooManyFamilies)
                #expect(set.changes.isEmpty && set.changedPaces.isEmpty)
                #expect(set.events.isEmpty && set.audit.isEmpty)
            }
        }
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
