import AppleAccounts
import AuthorizationServer
import StorageConformance
import Testing

/// Limits on the storage of one client for one account: beyond each limit the oldest entry is removed.
@Suite struct LimitTests {
    @Test func `an eleventh refresh token of a client ends the oldest, silently`() {
        var desk = GrantDesk()
        for number in 1...11 { desk.link(UInt64(number), at: Self.moment(number)) }
        #expect(desk.lineNumbers == Array(2...11))
        #expect(desk.endings.isEmpty)
        // That it has ended is no theft: nothing else ends.
        #expect(desk.apply(.refresh(.sample(SampleToken(family: 1)))).refusal == .refreshTokenNotFound)
        #expect(desk.lineNumbers.count == 10)
    }

    @Test func `a refresh does not make a family younger`() {
        var desk = GrantDesk()
        for number in 1...10 { desk.link(UInt64(number), at: Self.moment(number)) }
        desk.apply(.refresh(.sample(SampleToken(family: 1), at: 2_500_000)))
        desk.link(11, at: 2_500_001)
        #expect(!desk.lineNumbers.contains(1))
    }

    @Test func `families past their end take no place`() {
        var desk = GrantDesk()
        for number in 1...10 {
            desk.authorizeCode(UInt64(number))
            desk.apply(.redeem(.sample(UInt64(number), expiresAt: 2_400_000)))
        }
        desk.link(11, at: 2_400_000)
        #expect(desk.lineNumbers.count == 11)
    }

    @Test func `past the limit of the account the oldest family of any native client ends, with its grant`() {
        var desk = GrantDesk()
        let limits = FamilyLimits(perClient: 10, perAccount: 3)
        for number in 1...4 {
            desk.link(
                UInt64(number), client: "client-\(number)", limits: limits, at: Self.moment(number))
        }
        #expect(desk.lineNumbers == [2, 3, 4])
        #expect(desk.endings == [.replaced])
        #expect(desk.grants.count == 3)
    }

    @Test func `no other client ever ends a link with Google, or a family of a web client`() {
        var desk = GrantDesk()
        desk.link(1, client: "google", isNative: false, forGoogle: true, at: Self.moment(1))
        desk.link(2, client: "site", isNative: false, at: Self.moment(2))
        let limits = FamilyLimits(perClient: 10, perAccount: 3)
        for number in 3...12 {
            desk.link(
                UInt64(number), client: "client-\(number)", limits: limits, at: Self.moment(number))
        }
        #expect(desk.lineNumbers == [1, 2, 10, 11, 12])
        #expect(desk.reported.isEmpty)
    }

    @Test func `Google is not told of its own token that a newer one of its own has replaced`() {
        var desk = GrantDesk()
        for number in 1...11 {
            desk.link(
                UInt64(number), client: "google", isNative: false, forGoogle: true, at: Self.moment(number))
        }
        #expect(desk.lineNumbers == Array(2...11))
        #expect(desk.reported.isEmpty)
    }

    @Test func `families without a refresh token have 100 places of their own`() {
        var desk = GrantDesk()
        desk.link(1000, at: 2_000_000)
        for number in 1...101 {
            desk.link(UInt64(number), hasRefreshToken: false, at: Self.moment(number))
        }
        #expect(desk.lineNumbers == Array(2...101) + [1000])
    }

    @Test func `a grant has 100 codes, and a new one makes the oldest be forgotten`() {
        var desk = GrantDesk()
        for number in 1...101 { desk.authorizeCode(UInt64(number), at: Self.moment(number)) }
        #expect(desk.codes.count == 100)
        #expect(desk.apply(.redeem(.sample(1))).refusal == .codeNotFound)
        #expect(desk.apply(.redeem(.sample(2))).issued != nil)
    }

    private static func moment(_ number: Int) -> Moment { Moment(milliseconds: 2_000_000 + Int64(number)) }
}
