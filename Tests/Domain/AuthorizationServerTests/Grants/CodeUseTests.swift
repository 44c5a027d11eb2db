import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import StorageConformance
import Testing

/// RFC 6749 §4.1.2 and §4.1.3: a code gives tokens once, to its client, for its redirect URI and its
/// challenge.
@Suite struct CodeUseTests {
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

    /// An unredeemed code with a challenge.
    private func waiting() -> GrantDesk {
        var desk = GrantDesk()
        let challenge = Base64URL.encode(SHA256Digest.hash(Self.verifier).bytes)
        desk.apply(
            .authorize(
                .sample(account: GrantDesk.account, challenge: .init(text: challenge, isPlain: false))))
        return desk
    }

    private func redemption(at moment: Moment = 2_010_000) -> RedeemCommand {
        .sample(verifier: Self.verifier, at: moment)
    }

    @Test func `a code gives what the user has agreed to, once`() {
        var desk = waiting()
        let tokens = desk.apply(.redeem(redemption())).issued
        #expect(tokens?.scope == "openid offline_access")
        #expect(tokens?.nonce == "n-1")
        #expect(desk.apply(.redeem(redemption())).refusal == .codeRetried)
    }

    @Test(arguments: [0, 1, 9_999] as [Int64])
    func `a correct repetition within ten seconds is a retry that ends nothing`(delay: Int64) {
        var desk = waiting()
        desk.apply(.redeem(redemption(at: 2_010_000)))
        let again = desk.apply(.redeem(redemption(at: Moment(milliseconds: 2_010_000 + delay))))
        #expect(again.refusal == .codeRetried)
        #expect(desk.lineNumbers == [1])
    }

    @Test(arguments: [10_000, 10_001, 589_999, 86_000_000] as [Int64])
    func `a later repetition ends what the code gave`(delay: Int64) {
        var desk = waiting()
        desk.apply(.redeem(redemption(at: 2_010_000)))
        let again = desk.apply(.redeem(redemption(at: Moment(milliseconds: 2_010_000 + delay))))
        #expect(again.refusal == .codeReused)
        #expect(desk.lineNumbers.isEmpty)
        #expect(desk.endings == [.tokenReused])
    }

    @Test func `a repetition ends the family of its code alone`() {
        var desk = GrantDesk()
        desk.link(1)
        desk.link(2)
        #expect(desk.apply(.redeem(.sample(1, at: 2_100_000))).refusal == .codeReused)
        #expect(desk.lineNumbers == [2])
        #expect(desk.endings.isEmpty)
    }

    /// Requests of an attacker without the client's secret, the redirect URI or the verifier.
    static let wrong: [(RedeemCommand, GrantRefusal.Code)] = [
        (.sample(client: "tablet", verifier: verifier), .codeOfAnotherClient),
        (.sample(client: "tablet", redirectURI: "com.other:/", verifier: nil), .codeOfAnotherClient),
        (.sample(redirectURI: "com.example.app:/", verifier: verifier), .redirectURIMismatch),
        (.sample(redirectURI: "com.example.app:/BACK", verifier: verifier), .redirectURIMismatch),
        (.sample(redirectURI: "com.example.app:/other", verifier: nil), .redirectURIMismatch),
        (.sample(verifier: nil), .codeVerifierMismatch),
        (.sample(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXK"), .codeVerifierMismatch),
        // The challenge itself, as if the method were plain.
        (.sample(verifier: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"), .codeVerifierMismatch),
    ]

    @Test(arguments: wrong.indices)
    func `what is wrong before use neither uses a code up nor ends what it gave`(index: Int) {
        let (command, refusal) = Self.wrong[index]
        var desk = waiting()
        #expect(desk.apply(.redeem(command)).refusal == refusal)
        #expect(desk.apply(.redeem(redemption(at: 2_010_000))).issued != nil)
        var later = command
        later = RedeemCommand(
            codeDigest: later.codeDigest, oauthClientID: later.oauthClientID,
            redirectURI: later.redirectURI, codeVerifier: later.codeVerifier, clientScopes: .sample,
            newFamilyID: .sample(9), isNative: true, refreshToken: later.refreshToken,
            needsOfflineAccess: false, familyExpiresAt: later.familyExpiresAt, limits: later.limits,
            moment: 2_100_000)
        #expect(desk.apply(.redeem(later)).refusal == refusal)
        #expect(desk.lineNumbers == [1])
    }

    @Test func `a verifier for a request without a challenge is refused`() {
        var desk = GrantDesk()
        desk.authorizeCode()
        #expect(desk.apply(.redeem(.sample(verifier: Self.verifier))).refusal == .codeVerifierMismatch)
        #expect(desk.apply(.redeem(.sample())).issued != nil)
    }

    @Test(arguments: [(2_599_999, nil), (2_600_000, .codeExpired)] as [(Int64, GrantRefusal.Code?)])
    func `a code is good up to its end, and not at it`(moment: Int64, refusal: GrantRefusal.Code?) {
        var desk = waiting()
        #expect(desk.apply(.redeem(redemption(at: Moment(milliseconds: moment)))).refusal == refusal)
    }

    @Test(arguments: [true, false])
    func `a client that needs offline_access gets a refresh token with it alone`(isOffline: Bool) {
        var desk = GrantDesk()
        desk.apply(
            .authorize(
                .sample(account: GrantDesk.account, scope: isOffline ? "openid offline_access" : "openid")))
        let tokens = desk.apply(.redeem(.sample(isNative: false, needsOfflineAccess: true))).issued
        #expect(tokens?.hasNewRefreshToken == isOffline)
        // A family without a refresh token is over with its access token.
        #expect(tokens?.family.expiresAt == (isOffline ? 900_000_000 : 5_610_000))
    }
}

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
