import AppleAccounts
import AuthorizationServer
import Cryptography
import StorageConformance
import Testing

/// RFC 9700 §4.14: refresh tokens are replaced when they are used, and the use of an old token ends the token
/// family.
@Suite struct RotationTests {
    private let first = SampleToken(family: 1)

    /// A token family whose first token was used at 2,100,000.
    private func rotated() -> GrantDesk {
        var desk = GrantDesk()
        desk.link()
        desk.apply(.refresh(.sample(first, at: 2_100_000)))
        return desk
    }

    @Test func `a successor takes the place of the token that is used`() {
        let desk = rotated()
        #expect(desk.token(1)?.digest == first.next().digest)
        #expect(desk.token(1)?.generation == 1)
        #expect(
            desk.token(1)?.exchanged == [
                .init(digest: first.digest, moment: 2_100_000, salt: SampleToken.salt(0))
            ])
    }

    @Test(arguments: [2_000_000, 2_100_000, 2_100_001, 2_159_999, 88_499_999] as [Int64])
    func `a repetition gets the same successor while that was never used, for a day`(moment: Int64) {
        var desk = rotated()
        for salt in 1...3 {
            let again = desk.apply(
                .refresh(.sample(first, salt: salt, retryWindow: 0, at: Moment(milliseconds: moment))))
            #expect(again.issued?.successor == first.next().text)
        }
        #expect(desk.token(1)?.generation == 1)
        #expect(desk.endings.isEmpty)
    }

    @Test func `a day runs from the first exchange, however often the answer is lost`() {
        var desk = rotated()
        for moment in [2_110_000, 40_000_000, 88_499_999] as [Int64] {
            let again = desk.apply(.refresh(.sample(first, at: Moment(milliseconds: moment))))
            #expect(again.refusal == nil)
        }
        #expect(desk.apply(.refresh(.sample(first, at: 88_500_000))).refusal == .refreshTokenReused)
        #expect(desk.lineNumbers.isEmpty)
        #expect(desk.endings == [.tokenReused])
    }

    @Test(arguments: [0, 1, 60_000, 600_000] as [Int64])
    func `once its successor was used, a token is repeated within the window only`(window: Int64) {
        for (age, isRepeated) in [(window - 1, true), (window, false)] where age >= 0 {
            var desk = rotated()
            desk.apply(.refresh(.sample(first.next(), retryWindow: window, at: 2_100_000)))
            let again = desk.apply(
                .refresh(
                    .sample(
                        first, retryWindow: window,
                        at: Moment(milliseconds: 2_100_000).advanced(byMilliseconds: age))))
            #expect(again.issued?.successor == (isRepeated ? first.next().next().text : nil))
            #expect(again.refusal == (isRepeated ? nil : .refreshTokenReused))
            #expect(desk.lineNumbers == (isRepeated ? [1] : []))
        }
    }

    @Test func `in every order of five uses of three tokens each answer is the newest token`() {
        let tokens = [first, first, first.next(), first.next(), first.next().next()]
        for order in [0, 1, 2, 3, 4].permutations {
            var desk = rotated()
            desk.apply(.refresh(.sample(first.next(), at: 2_100_000)))
            var newest = first.next().next()
            for number in order {
                let use = desk.apply(.refresh(.sample(tokens[number], salt: number, at: 2_110_000)))
                if tokens[number] == newest { newest = newest.next(number) }
                #expect(use.issued?.successor == newest.text)
            }
            #expect(desk.token(1)?.digest == newest.digest)
        }
    }

    @Test func `a token whose clock is ahead keeps the salts that its predecessors need`() {
        var desk = rotated()
        // The replica of the next two exchanges has an earlier clock.
        desk.apply(.refresh(.sample(first.next(), at: 2_050_000)))
        desk.apply(.refresh(.sample(first.next().next(), at: 2_050_000)))
        for moment in [2_115_000, 2_159_999] as [Moment] {
            let again = desk.apply(.refresh(.sample(first, at: moment)))
            #expect(again.issued?.successor == SampleToken(family: 1, generation: 3).text)
        }
    }

    @Test func `between a repetition and its exchange, the account still decides`() {
        var desk = rotated()
        desk.user.disabling = Disabling(since: 2_100_001, until: .last, reason: .abuse)
        #expect(desk.apply(.refresh(.sample(first, at: 2_100_002))).refusal == .accountDisabled)
        desk.user.disabling = nil
        #expect(desk.apply(.refresh(.sample(first, at: 2_100_003))).issued?.successor == first.next().text)
        desk.apply(.revoke(.sample(first, at: 2_100_004)))
        #expect(desk.apply(.refresh(.sample(first, at: 2_100_005))).refusal == .refreshTokenNotFound)
        #expect(desk.endings == [.clientRevoked])
    }

    /// A family whose token was exchanged by a version without salts.
    @Test(arguments: [true, false])
    func `a token that was exchanged without a salt is repeated for 30 seconds`(isInTime: Bool) {
        var desk = rotated()
        desk.forgetSalts(of: 1)
        let moment: Moment = isInTime ? 2_129_999 : 2_130_000
        let again = desk.apply(.refresh(.sample(first, salt: 5, at: moment)))
        guard isInTime else {
            #expect(again.refusal == .refreshTokenReused)
            return
        }
        #expect(again.issued?.successor == first.next(5).text)
        #expect(desk.token(1)?.generation == 1)
        // From here on it has a salt. Its first successor has been replaced.
        #expect(desk.apply(.refresh(.sample(first, at: 2_131_000))).issued?.successor == first.next(5).text)
        #expect(desk.apply(.refresh(.sample(first.next(), at: 2_131_000))).refusal == .refreshTokenReused)
    }

    @Test func `salts that do not lead to the newest token answer nothing`() {
        // A replica of a version without salts has replaced the successor.
        var desk = rotated()
        desk.replaceToken(of: 1, by: .hash("from elsewhere"))
        #expect(desk.apply(.refresh(.sample(first, at: 2_140_000))).refusal == .refreshTokenReused)
    }

    @Test func `only one who has the secret of the family can end it with an invented token`() {
        var desk = rotated()
        let command = RefreshCommand(
            oauthClientID: "phone", presented: SampleToken.forged(family: 1), rotation: nil, scope: nil,
            clientScopes: .sample, familyExpiresAt: 900_000_000, moment: 9_000_000)
        #expect(desk.apply(.refresh(command)).refusal == .refreshTokenForged)
        #expect(desk.lineNumbers == [1])
    }

    @Test func `another client neither uses a token nor ends its family`() {
        var desk = rotated()
        for token in [first, first.next()] {
            #expect(
                desk.apply(.refresh(.sample(token, client: "tablet", at: 9_000_000))).refusal
                    == .refreshTokenOfAnotherClient)
        }
        #expect(desk.lineNumbers == [1])
        #expect(desk.token(1)?.generation == 1)
    }

    @Test func `a token that is not rotated stays, and an invented one ends nothing`() {
        var desk = GrantDesk()
        desk.link(client: "google", isNative: false, forGoogle: true)
        for moment in [2_100_000, 3_000_000] as [Int64] {
            let tokens = desk.apply(
                .refresh(
                    .sample(first, client: "google", salt: nil, at: Moment(milliseconds: moment))))
            #expect(tokens.issued?.hasNewRefreshToken == false)
        }
        let invented = SampleToken(family: 1, variant: 9)
        #expect(
            desk.apply(.refresh(.sample(invented, client: "google", salt: nil))).refusal
                == .refreshTokenForged)
        #expect(desk.lineNumbers == [1])
    }

    @Test func `a use moves the end of a family, and never past its longest life`() {
        var desk = GrantDesk()
        desk.link()
        let used = desk.apply(
            .refresh(.sample(first, expiresAt: 50_000_000, longestLine: 10_000_000, at: 2_100_000)))
        #expect(used.issued?.family.expiresAt == 12_000_000)
        // At its end it has expired, and is not reused: nothing is left that could be ended.
        let late = desk.apply(
            .refresh(
                .sample(first.next(), expiresAt: 50_000_000, longestLine: 10_000_000, at: 12_000_000)))
        #expect(late.refusal == .refreshTokenExpired)
        #expect(desk.endings.isEmpty)
    }

    @Test(arguments: ["openid profile", "OpenID", "openid  offline_access", ""])
    func `a wider scope is refused and uses nothing up`(scope: String) {
        var desk = GrantDesk()
        desk.link()
        #expect(desk.apply(.refresh(.sample(first, scope: scope))).refusal == .scopeExceeded)
        #expect(desk.token(1)?.generation == 0)
        #expect(desk.apply(.refresh(.sample(first, scope: "openid"))).issued?.scope == "openid")
    }
}

extension [Int] {
    /// All orders of the numbers.
    fileprivate var permutations: [[Int]] {
        guard count > 1 else { return [self] }
        return indices.flatMap { index in
            var rest = self
            let number = rest.remove(at: index)
            return rest.permutations.map { [number] + $0 }
        }
    }
}

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
        ] { #expect(desk.apply(.revoke(command)) == .success(.revoked)) }
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
        ] { #expect(desk.apply(.end(command)).refusal == .grantNotFound) }
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
