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
        #expect(desk.token(1)?.digest == first.next().presented.digest)
        #expect(desk.token(1)?.generation == 1)
        #expect(
            desk.token(1)?.previous == .init(digest: first.presented.digest, rotatedAt: 2_100_000))
    }

    @Test(arguments: [2_100_000, 2_100_001, 2_129_999] as [Int64])
    func `within 30 seconds the token before gets another successor`(moment: Int64) {
        var desk = rotated()
        let again = desk.apply(
            .refresh(.sample(first, successor: 1, at: Moment(milliseconds: moment))))
        #expect(again.issued?.hasNewRefreshToken == true)
        #expect(desk.token(1)?.digest == first.next(1).presented.digest)
        #expect(desk.token(1)?.generation == 1)
        #expect(desk.endings.isEmpty)
    }

    @Test(arguments: [2_130_000, 2_130_001, 9_000_000] as [Int64])
    func `from the 30th second on the token before ends the family`(moment: Int64) {
        var desk = rotated()
        let late = desk.apply(.refresh(.sample(first, successor: 1, at: Moment(milliseconds: moment))))
        #expect(late.refusal == .refreshTokenReused)
        #expect(desk.lineNumbers.isEmpty)
        #expect(desk.endings == [.tokenReused])
    }

    @Test func `the 30 seconds run from the first rotation, however often the answer is lost`() {
        var desk = rotated()
        for (attempt, moment) in [2_110_000, 2_120_000, 2_129_000].enumerated() {
            let again = desk.apply(
                .refresh(.sample(first, successor: attempt + 1, at: Moment(milliseconds: Int64(moment)))))
            #expect(again.refusal == nil)
        }
        #expect(
            desk.apply(.refresh(.sample(first, successor: 9, at: 2_130_000))).refusal == .refreshTokenReused)
    }

    @Test func `a successor that was used ends the time of the token before at once`() {
        var desk = rotated()
        desk.apply(.refresh(.sample(first.next(), at: 2_100_001)))
        #expect(
            desk.apply(.refresh(.sample(first, successor: 1, at: 2_100_002))).refusal == .refreshTokenReused)
        #expect(desk.endings == [.tokenReused])
    }

    @Test func `a successor that was replaced ends the family, since two now hold tokens`() {
        var desk = rotated()
        desk.apply(.refresh(.sample(first, successor: 1, at: 2_100_001)))
        #expect(
            desk.apply(.refresh(.sample(first.next(0), at: 2_100_002))).refusal == .refreshTokenReused)
        #expect(desk.lineNumbers.isEmpty)
    }

    @Test func `only one who has the secret of the family can end it with an invented token`() {
        var desk = rotated()
        let stranger = PresentedRefreshToken(
            familyID: first.presented.familyID, familySecretDigest: .hash("guess"),
            digest: first.presented.digest)
        let command = RefreshCommand(
            oauthClientID: "phone", presented: stranger, successor: nil, scope: nil,
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
                    .sample(first, client: "google", successor: nil, at: Moment(milliseconds: moment))))
            #expect(tokens.issued?.hasNewRefreshToken == false)
        }
        let invented = SampleToken(family: 1, variant: 9)
        #expect(
            desk.apply(.refresh(.sample(invented, client: "google", successor: nil))).refusal
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
