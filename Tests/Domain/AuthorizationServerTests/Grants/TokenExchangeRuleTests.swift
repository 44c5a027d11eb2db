import AppleAccounts
import AuthorizationServer
import StorageConformance
import Testing

/// The rule of a native sign-in that yields tokens (RFC 8693).
@Suite struct TokenExchangeRuleTests {
    @Test func `a sign-in gives tokens and the grant at once`() throws {
        var desk = GrantDesk()
        let issued = try #require(desk.apply(.exchange(.sample(account: GrantDesk.account))).issued)
        #expect(issued.hasNewRefreshToken)
        #expect(issued.scope == "openid email")
        #expect(issued.family.isNative)
        #expect(issued.family.authenticatedAt == 1_000_000)
        #expect(desk.grants.values.map(\.scope) == ["openid email"])
        #expect(desk.events.map(\.kind) == [.grantCreated])
        #expect(desk.codes.isEmpty)
    }

    @Test func `the next sign-in of the same app widens the grant`() {
        var desk = GrantDesk()
        desk.apply(.exchange(.sample(1, account: GrantDesk.account, scope: "openid")))
        desk.apply(.exchange(.sample(2, account: GrantDesk.account, scope: "email")))
        #expect(desk.grants.values.map(\.scope) == ["openid email"])
        #expect(desk.lineNumbers == [1, 2])
        #expect(desk.events.count == 1)
    }

    @Test func `the eleventh refresh token ends the oldest, and the limit of the account holds`() {
        var desk = GrantDesk()
        for number in 1...11 as ClosedRange<UInt64> {
            desk.apply(
                .exchange(
                    .sample(
                        number, account: GrantDesk.account,
                        at: Moment(milliseconds: 2_000_000 + Int64(number)))))
        }
        #expect(desk.lineNumbers == Array(2...11))
        desk.apply(
            .exchange(
                .sample(
                    12, account: GrantDesk.account, client: "tablet",
                    limits: FamilyLimits(perClient: 10, perAccount: 3), at: 2_000_100)))
        #expect(desk.lineNumbers == [10, 11, 12])
    }

    @Test func `a revocation between the sign-in and the grant leaves no token`() {
        var desk = GrantDesk()
        desk.revoke(.consentRevoked, at: 1_500_000)
        let refused = desk.apply(.exchange(.sample(account: GrantDesk.account))).refusal
        #expect(refused == .credentialRevoked)
        // Also when the user has signed in again elsewhere.
        desk.authorize(at: 1_600_000)
        #expect(desk.apply(.exchange(.sample(account: GrantDesk.account))).refusal == .credentialRevoked)
        #expect(desk.grants.isEmpty && desk.families.isEmpty && desk.events.isEmpty)
    }

    @Test func `the age of the sign-in is checked in the transaction`() {
        var desk = GrantDesk()
        let command = TokenExchangeCommand.sample(account: GrantDesk.account, authenticatedAfter: 1_000_001)
        #expect(desk.apply(.exchange(command)).refusal == .authenticationTooOld)
        #expect(desk.grants.isEmpty)
    }
}
