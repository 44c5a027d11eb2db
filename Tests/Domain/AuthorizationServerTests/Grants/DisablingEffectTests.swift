import AppleAccounts
import StorageConformance
import Testing

@testable import AuthorizationServer

/// Effects of a disabled account and of a sign-out on grants.
@Suite struct DisablingEffectTests {
    private static let account = Account(
        id: GrantDesk.account, team: SubjectKey.sample().team, subject: SubjectKey.sample().subject,
        createdAt: 1_000_000)

    private func disabled(until end: Moment = .last) -> Disabling {
        Disabling(since: 2_050_000, until: end, reason: .security)
    }

    @Test func `a refresh, a redemption, a code and an assertion are refused, and good again afterwards`() {
        var desk = GrantDesk()
        desk.link()
        desk.authorizeCode(2)
        desk.user.disabling = disabled()
        let commands: [GrantCommand] = [
            .refresh(.sample()), .redeem(.sample(2)),
            .authorize(.sample(3, account: GrantDesk.account, authenticatedAt: 1_000_000)),
            .assertion(.sample(4, account: GrantDesk.account)),
        ]
        for command in commands { #expect(desk.apply(command).refusal == .accountDisabled) }
        #expect(desk.endings.isEmpty && desk.token(1)?.generation == 0)
        desk.user.disabling = nil
        for command in commands { #expect(desk.apply(command).refusal == nil) }
    }

    @Test(arguments: [(2_099_999, .accountDisabled), (2_100_000, nil)] as [(Int64, GrantRefusal.Code?)])
    func `the end of the time counts by the moment of the request`(
        moment: Int64, refusal: GrantRefusal.Code?
    ) {
        var desk = GrantDesk()
        desk.link()
        desk.user.disabling = disabled(until: 2_100_000)
        #expect(desk.apply(.refresh(.sample(at: Moment(milliseconds: moment)))).refusal == refusal)
    }

    /// Whoever has a stolen token must not keep it alive, also while the account is disabled.
    @Test func `an old token ends its family also while the account is disabled`() {
        var desk = GrantDesk()
        desk.link()
        desk.apply(.refresh(.sample()))
        desk.user.disabling = disabled()
        #expect(desk.apply(.refresh(.sample(at: 88_500_000))).refusal == .refreshTokenReused)
        #expect(desk.lineNumbers.isEmpty)
    }

    @Test func `a disabled account that is revoked too is told to be disabled`() {
        var desk = GrantDesk()
        desk.link()
        desk.revoke(.refreshTokenRejected, at: 2_050_000)
        desk.user.disabling = disabled()
        #expect(desk.apply(.refresh(.sample())).refusal == .accountDisabled)
        desk.user.disabling = nil
        #expect(desk.apply(.refresh(.sample())).refusal == .credentialRevoked)
    }

    private func signedOut(_ desk: GrantDesk, keeping kept: Set<OAuthClientID>) -> WorkingSet {
        var generator = SystemRandomNumberGenerator()
        var set = WorkingSet([.signOut(.sample(Self.account, keptClients: kept))])
        set.load(desk.user, at: 0)
        _ = set.applyCommands(using: &generator)
        return set
    }

    @Test func `a sign-out ends grants, families and codes, and tells Google of its own`() {
        var desk = GrantDesk()
        desk.link(1, client: "google", isNative: false, forGoogle: true)
        desk.link(2)
        desk.authorizeCode(3, client: "tablet")
        // A clock of Apple's that is ahead changes nothing.
        desk.authorize(at: 9_000_000)
        desk.link(4, client: "tablet", at: 2_040_000)
        desk.end(signedOut(desk, keeping: ["google"]))
        #expect(desk.lineNumbers == [1] && desk.codes.values.allSatisfy { $0.oauthClientID == "google" })
        #expect(desk.endings == [.signedOut, .signedOut] && desk.reported.isEmpty)
        #expect(desk.events.last?.kind == .sessionsEnded)
        desk.end(signedOut(desk, keeping: []))
        #expect(desk.grants.isEmpty)
        #expect(desk.reported == [SampleToken(family: 1).doubleSHA512])
    }

    @Test(arguments: [(2_050_000, .credentialRevoked), (2_050_001, nil)] as [(Int64, GrantRefusal.Code?)])
    func `an authentication from before a sign-out gives no code`(
        moment: Int64, refusal: GrantRefusal.Code?
    ) {
        var desk = GrantDesk()
        desk.user.sessionsEndedAt = 2_050_000
        let command = AuthorizeCommand.sample(
            account: GrantDesk.account, authenticatedAt: Moment(milliseconds: moment), at: 2_060_000)
        #expect(desk.apply(.authorize(command)).refusal == refusal)
    }
}
