import AppleAccounts
import StorageConformance
import Testing

@testable import AuthorizationServer

/// Effects of Apple's reports about the credential on grants: most end grants permanently, one only suspends
/// them.
@Suite struct CredentialEffectTests {
    private static let credential = GrantDesk.app

    private static func status(_ desk: GrantDesk) -> AccountStatus? {
        desk.user.account.map { AccountStatus(account: $0, credential: desk.user.record(for: credential)) }
    }

    @Test func `a rejected refresh token of Apple's suspends tokens until the next sign-in`() {
        var desk = GrantDesk()
        desk.link()
        desk.revoke(.refreshTokenRejected, at: 2_050_000)
        #expect(desk.apply(.refresh(.sample())).refusal == .credentialRevoked)
        #expect(Self.status(desk)?.admits(authorizedAt: 1_000_000, at: 2_050_000) == false)
        #expect(desk.token(1)?.generation == 0)
        desk.authorize(at: 2_060_000)
        #expect(Self.status(desk)?.admits(authorizedAt: 1_000_000, at: 2_050_000) == true)
        #expect(desk.apply(.refresh(.sample())).refusal == nil)
        #expect(desk.endings.isEmpty)
    }

    @Test func `a code is suspended too, and not used up by the attempt`() {
        var desk = GrantDesk()
        desk.authorizeCode()
        desk.revoke(.refreshTokenRejected, at: 2_005_000)
        #expect(desk.apply(.redeem(.sample())).refusal == .credentialRevoked)
        desk.authorize(at: 2_006_000)
        #expect(desk.apply(.redeem(.sample())).issued != nil)
    }

    @Test(arguments: [.consentRevoked, .appleAccountDeleted, .erased] as [CredentialReason])
    func `what was authorized before an end for good is not healed by a sign-in`(reason: CredentialReason) {
        var desk = GrantDesk()
        desk.link(1)
        // The rows are still there, as if the transaction of the revocation had left them.
        desk.revoke(reason, at: 2_050_000)
        desk.authorize(at: 2_060_000)
        #expect(desk.apply(.refresh(.sample())).refusal == .credentialRevoked)
        desk.link(2, at: 2_070_000)
        #expect(desk.apply(.refresh(.sample(SampleToken(family: 2)))).refusal == nil)
    }

    @Test func `no code is written while the credential is revoked, or for a session from before`() {
        var desk = GrantDesk()
        desk.revoke(.consentRevoked, at: 2_000_000)
        #expect(desk.authorizeCode().refusal == .credentialRevoked)
        desk.authorize(at: 2_010_000)
        let old = AuthorizeCommand.sample(
            account: GrantDesk.account, authenticatedAt: 1_500_000, at: 2_020_000)
        #expect(desk.apply(.authorize(old)).refusal == .credentialRevoked)
        #expect(desk.grants.isEmpty && desk.events.isEmpty)
        #expect(desk.authorizeCode(at: 2_020_000).refusal == nil)
    }

    @Test(arguments: [(1_000_000, nil), (1_000_001, .authenticationTooOld)] as [(Int64, GrantRefusal.Code?)])
    func `the age of the authentication is looked at when the code is written`(
        oldest: Int64, refusal: GrantRefusal.Code?
    ) {
        var desk = GrantDesk()
        let command = AuthorizeCommand.sample(
            account: GrantDesk.account, authenticatedAt: 1_000_000,
            authenticatedAfter: Moment(milliseconds: oldest))
        #expect(desk.apply(.authorize(command)).refusal == refusal)
    }

    /// The state after a notification of withdrawn consent, by the rules of accounts.
    private func withdrawn(at moment: Moment, _ desk: GrantDesk) -> WorkingSet {
        var generator = SystemRandomNumberGenerator()
        var set = WorkingSet([.notification(.sample(at: moment))])
        set.load(desk.user, at: 0)
        _ = set.applyCommands(using: &generator)
        return set
    }

    @Test func `a withdrawn consent removes grants, families and codes, and tells Google and the backend`() {
        var desk = GrantDesk()
        desk.link(1, client: "google", isNative: false, forGoogle: true)
        desk.link(2)
        desk.authorizeCode(3)
        desk.end(withdrawn(at: 2_050_000, desk))
        #expect(desk.grants.isEmpty && desk.families.isEmpty && desk.codes.isEmpty)
        #expect(desk.endings == [.consentRevoked, .consentRevoked])
        #expect(desk.reported == [SampleToken(family: 1).doubleSHA512])
        #expect(desk.events.suffix(3).map(\.kind) == [.credentialRevoked, .grantRevoked, .grantRevoked])
    }

    /// `account_erased` is the last event of an account, so that a reader can then forget the account.
    @Test func `an erasure ends all grants before it is told, and forgets the Google account`() throws {
        var desk = GrantDesk()
        desk.apply(.assertion(.sample(account: GrantDesk.account)))
        desk.link(2)
        var generator = SystemRandomNumberGenerator()
        var set = WorkingSet([.erase(.sample(account: try #require(desk.user.account)))])
        set.load(desk.user, at: 0)
        _ = set.applyCommands(using: &generator)
        var ending = try #require(GrantEnding(of: set))
        ending.load(
            grants: Array(desk.grants.values), families: Array(desk.families.values),
            codes: Array(desk.codes.values))
        let events = ending.carryOut(set.events, using: &generator)
        #expect(events.suffix(3).map(\.kind) == [.grantRevoked, .grantRevoked, .accountErased])
        #expect(events.allSatisfy { $0.subject == nil })
        #expect(ending.forgottenGoogleSubjects == ["google-sub-1"])
        #expect(ending.changes.removedGrants.count == 2)
        #expect(events.compactMap(\.grant?.endedToken) == [SampleToken(family: 1).doubleSHA512])
    }

    @Test func `what was authorized after a withdrawal that comes late goes on`() {
        var desk = GrantDesk()
        desk.link(1)
        desk.authorize(at: 3_000_000)
        desk.link(2, at: 3_100_000)
        desk.end(withdrawn(at: 2_050_000, desk))
        #expect(desk.lineNumbers == [2])
        #expect(desk.grants.count == 1)
        #expect(desk.endings.isEmpty)
    }

    /// A team transfer changes the user's `sub` at Apple. Grants belong to the account and the app.
    @Test func `a user who has another team and sub keeps the tokens, and events have the new name`() {
        var desk = GrantDesk()
        desk.link()
        var moved = SubjectRecord(
            key: .sample(team: "B2C3D4E5F6", "002999.fedcba9876543210.3210"), isStored: true)
        moved.accountID = desk.user.accountID
        moved.createdAt = desk.user.createdAt
        moved.credentials = desk.user.credentials
        desk.user = moved
        #expect(desk.apply(.refresh(.sample())).refusal == nil)
        desk.apply(.revoke(.sample(SampleToken(family: 1, generation: 1))))
        #expect(desk.events.last?.team == "B2C3D4E5F6")
        #expect(desk.events.last?.subject == "002999.fedcba9876543210.3210")
        #expect(desk.events.last?.accountID == GrantDesk.account)
    }
}

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
