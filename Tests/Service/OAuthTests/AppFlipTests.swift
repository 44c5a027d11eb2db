import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Commits
import Cryptography
import Encodings
import JOSE
import KeySets
import OAuthSamples
import SignIn
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import OAuth

@Suite struct AppFlipTests {
    private let world: OAuthWorld

    init() throws { world = try OAuthWorld() }

    private func call(_ change: (inout AppFlipRequestBody) -> Void = { _ in }) -> AppFlipRequestBody {
        var call = AppFlipRequestBody()
        (call.clientID, call.redirectURI) = ("google", OAuthSample.appFlipURI)
        (call.state, call.scope, call.decision) = ("a b&c", "openid devices", "granted")
        change(&call)
        return call
    }

    private func flip(
        _ world: OAuthWorld, _ change: (inout AppFlipRequestBody) -> Void = { _ in }
    ) async throws -> AppFlipResponse { try await AppFlip(world.server).response(call(change), caller: .all) }

    /// The code in a URL.
    private func code(in response: AppFlipResponse) throws -> String {
        let start = try #require(response.redirectTo.firstRange(of: "code=")?.upperBound)
        return String(response.redirectTo[start...].prefix { $0 != "&" })
    }

    @Test func `an identity token signs the user in and gives a code that Google redeems`() async throws {
        let token = try world.identityToken()
        let response = try await flip(world) { $0.identityToken = token }
        #expect(response.outcome == .code)
        #expect(response.redirectTo.hasPrefix(OAuthSample.appFlipURI + "?code=siwa_ac_"))
        #expect(response.redirectTo.hasSuffix("&state=a%20b%26c"))
        let tokens = try await world.redeem(
            try code(in: response), as: "google", uri: OAuthSample.appFlipURI, verifier: nil)
        #expect(tokens.scope == "openid devices")
        let claims = try OAuthWorld.claims(tokens.accessToken)
        #expect(claims["auth_time"]?.integer == TokenMint.sampleTime)
    }

    @Test func `the code is bound to the redirect URI and to the challenge`() async throws {
        let account = try await world.user()
        let response = try await flip(world) {
            $0.accountID = account.id.rawValue
            $0.codeChallenge = OAuthWorld.challenge
            $0.codeChallengeMethod = "S256"
        }
        let code = try code(in: response)
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await world.redeem(code, as: "google", uri: OAuthSample.googleURI)
        }
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await world.redeem(code, as: "google", uri: OAuthSample.appFlipURI, verifier: nil)
        }
        let tokens = try await world.redeem(code, as: "google", uri: OAuthSample.appFlipURI)
        // The user signed in then, and the backend did not say another time.
        #expect(try OAuthWorld.claims(tokens.accessToken)["auth_time"]?.integer == TokenMint.sampleTime)
    }

    @Test func `a refused identity is cancelled, so that Google goes on in the browser`() async throws {
        let refused = try await flip(world) { $0.identityToken = "a.b.c" }
        #expect(refused.outcome == .cancelled)
        #expect(refused.redirectTo.contains("error=cancelled"))
        #expect(try await flip(world).outcome == .cancelled)
        let account = try await world.user()
        try await world.notify("consent-revoked")
        let revoked = try await flip(world) { $0.accountID = account.id.rawValue }
        #expect(revoked.outcome == .cancelled)
        let old = try world.identityToken()
        #expect(try await flip(world) { $0.identityToken = old }.outcome == .cancelled)
        #expect(try await world.store.grants(of: account.id).isEmpty)
    }

    @Test func `an authentication that is too old is cancelled and signs nobody in`() async throws {
        let world = try OAuthWorld { $0.clients[2].maxAuthenticationAge = 59 }
        let token = try world.identityToken()
        #expect(try await flip(world) { $0.identityToken = token }.outcome == .cancelled)
        let key = SubjectKey(team: world.team, subject: try #require(AppleSubject(TokenMint.subject)))
        #expect(try await world.store.account(key) == nil)
        let account = try await world.user()
        let unsaid = try await flip(world) { $0.accountID = account.id.rawValue }
        #expect(unsaid.outcome == .cancelled)
        let recent = try await flip(world) {
            ($0.accountID, $0.authenticatedAt) = (account.id.rawValue, world.now)
        }
        #expect(recent.outcome == .code)
    }

    @Test(
        arguments: [(0, .code), (60_000, .code), (60_001, .cancelled), (86_400_000, .cancelled)]
            as [(Int64, AppFlipOutcome)])
    func `an authentication in the future is cancelled beyond the leeway`(
        ahead: Int64, outcome: AppFlipOutcome
    ) async throws {
        let world = try OAuthWorld { $0.clients[2].maxAuthenticationAge = 3600 }
        let account = try await world.user()
        let response = try await flip(world) {
            $0.accountID = account.id.rawValue
            $0.authenticatedAt = world.now.advanced(byMilliseconds: ahead)
        }
        #expect(response.outcome == outcome)
    }

    @Test func `the year 9999 is not recent for ever`() async throws {
        let account = try await world.user()
        let response = try await flip(world) {
            ($0.accountID, $0.authenticatedAt) = (account.id.rawValue, .last)
        }
        #expect(response.outcome == .cancelled)
        #expect(try await world.store.grants(of: account.id).isEmpty)
    }

    @Test func `an account that is deleted here or at Apple is unrecoverable`() async throws {
        let account = try await world.user()
        _ = try await world.signIn.erase(id: account.id.rawValue, allowed: .all, waiting: .zero)
        let erased = try await flip(world) { $0.accountID = account.id.rawValue }
        #expect(erased.outcome == .unrecoverable)
        let other = try await world.user { claims in
            claims["sub"] = .string("001234.ffffffffffffffffffffffffffffffff.0123")
        }
        var deletion = TokenMint.notificationClaims(type: "account-delete", at: TokenMint.sampleTime + 60)
        let event = JSONObject([
            ("type", .string("account-delete")), ("sub", .string(other.subject.rawValue)),
            ("event_time", .integer((TokenMint.sampleTime + 60) * 1000)),
        ])
        deletion["events"] = .string(String(decoding: JSONValue.object(event).serialized(), as: UTF8.self))
        let pending = try world.signIn.receiveNotification(payload: try TokenMint.shared.sign(deletion))
        _ = try await pending.value
        let deleted = try await flip(world) { $0.accountID = other.id.rawValue }
        #expect(deleted.outcome == .unrecoverable)
    }

    @Test func `an unknown account and a foreign redirect URI have no URL to open`() async throws {
        let unknown = "acc_01a1fbea-fd31-77cb-bae8-b913bd619922"
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            _ = try await flip(world) { $0.accountID = unknown }
        }
        await #expect(throws: AppFlipRefusal.redirectURIMismatch) {
            _ = try await flip(world) { $0.redirectURI = OAuthSample.googleURI }
        }
        let other = ClientID("com.example.other")
        await #expect(throws: AppFlipRefusal.callerForbidden) {
            try await AppFlip(world.server).response(call(), caller: .only([other]))
        }
    }

    // Android, by an intent.

    private func androidWorld() throws -> OAuthWorld {
        try OAuthWorld {
            $0.clients[2].androidPackage = "com.example.app"
            $0.clients[2].androidFingerprints = [Array(repeating: "0A", count: 32).joined(separator: ":")]
        }
    }

    @Test(arguments: [nil, "", "a state"])
    func `an Android app gets the code itself, with or without a state`(state: String?) async throws {
        let world = try androidWorld()
        let account = try await world.user()
        let response = try await flip(world) {
            ($0.redirectURI, $0.state, $0.accountID) = (OAuthSample.googleURI, state, account.id.rawValue)
        }
        #expect(response.outcome == .code)
        let code = try #require(response.code)
        #expect(try self.code(in: response) == code)
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await world.redeem(code, as: "google", uri: OAuthSample.appFlipURI, verifier: nil)
        }
        _ = try await world.redeem(code, as: "google", uri: OAuthSample.googleURI, verifier: nil)
    }

    @Test func `only a client with an Android app takes an intent's URI, and iOS needs a state`()
        async throws
    {
        let plain = try OAuthWorld()
        await #expect(throws: AppFlipRefusal.redirectURIMismatch) {
            _ = try await AppFlip(plain.server).response(
                call { $0.redirectURI = OAuthSample.googleURI }, caller: .all)
        }
        let world = try androidWorld()
        let account = try await world.user()
        func response(_ change: (inout AppFlipRequestBody) -> Void) async throws -> AppFlipResponse {
            try await flip(world) {
                $0.accountID = account.id.rawValue
                change(&$0)
            }
        }
        #expect(try await response { $0.state = nil }.outcome == .invalidRequest)
        let iOS = try await response { _ in }
        #expect(iOS.outcome == .code && iOS.code == nil)
        let long = try await response {
            $0.redirectURI = OAuthSample.googleURI
            $0.state = String(repeating: "s", count: RequestState.longest + 1)
        }
        #expect(long.outcome == .invalidRequest)
        let denied = try await response { ($0.redirectURI, $0.decision) = (OAuthSample.googleURI, "denied") }
        #expect(denied.outcome == .accessDenied && denied.code == nil)
        let other = try await response { ($0.redirectURI, $0.clientID) = (OAuthSample.googleURI, "shop") }
        #expect(other.outcome == .invalidRequest)
    }

    // The prompt.

    private func prompt(
        _ world: OAuthWorld, _ change: (inout AppFlipRequestBody) -> Void
    ) async throws -> AppFlipPrompt {
        try await AppFlip(world.server).prompt(
            call {
                $0.decision = nil
                change(&$0)
            }, caller: .all)
    }

    @Test func `the sheet asks for the scopes of the link, and nothing is stored`() async throws {
        let account = try await world.user()
        let question = try #require(try await prompt(world) { $0.accountID = account.id.rawValue }.question)
        #expect(question.scopes.map(\.token.rawValue) == ["openid", "devices"])
        #expect(question.scopes.map(\.isOptional) == [false, true])
        #expect(question.account?.id == account.id)
        #expect(try await world.store.grants(of: account.id).isEmpty)
        let early = try #require(try await prompt(world) { _ in }.question)
        #expect(early.account == nil)
    }

    @Test func `a session from before a revocation signs in again, also after one elsewhere`() async throws {
        let account = try await world.user()
        try await world.notify("consent-revoked")
        let revoked = try await prompt(world) { $0.accountID = account.id.rawValue }
        #expect(revoked.refusal?.outcome == .cancelled)
        #expect(revoked.refusal?.endsWithSignIn == true)
        world.clock.advance(by: .seconds(120))
        let later = TokenMint.sampleTime + 120
        _ = try await world.user { claims in
            claims["iat"] = .integer(later)
            claims["auth_time"] = .integer(later)
        }
        for (time, isAsked) in [(TokenMint.sampleTime, false), (later, true)] {
            let result = try await prompt(world) {
                ($0.accountID, $0.authenticatedAt) = (account.id.rawValue, Moment(seconds: time))
            }
            #expect((result.question != nil) == isAsked)
            #expect(result.refusal?.endsWithSignIn ?? true)
        }
    }

    @Test func `at the limit of new grants the user is not asked, unless the grant is there`() async throws {
        let account = try await world.user()
        for number in 1...GrantPace.most {
            let asked = try await prompt(world) { $0.accountID = account.id.rawValue }
            #expect(asked.question != nil, "\(number)")
            _ = try await flip(world) { $0.accountID = account.id.rawValue }
            let grant = try #require(try await world.store.grants(of: account.id).first)
            if number == GrantPace.most {
                // A further consent only widens the grant.
                #expect(try await prompt(world) { $0.accountID = account.id.rawValue }.question != nil)
            }
            try await GrantUseCases(world.server).end(
                grant.id.rawValue, of: account.id.rawValue, allowed: .all)
        }
        let refused = try await prompt(world) { $0.accountID = account.id.rawValue }
        #expect(refused.refusal?.outcome == .cancelled && refused.refusal?.endsWithSignIn == false)
        world.clock.advance(by: .seconds(3600))
        let later = try await prompt(world) { $0.accountID = account.id.rawValue }
        #expect(later.question != nil)
    }

    @Test func `an account that is gone ends linking before the user is asked`() async throws {
        let account = try await world.user()
        _ = try await world.signIn.erase(id: account.id.rawValue, allowed: .all, waiting: .zero)
        let erased = try await prompt(world) { $0.accountID = account.id.rawValue }
        #expect(erased.refusal?.outcome == .unrecoverable)
        #expect(erased.refusal?.endsWithSignIn == false)
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            _ = try await prompt(world) { $0.accountID = "acc_01a1fbea-fd31-77cb-bae8-b913bd619922" }
        }
    }
}

extension AppFlipPrompt {
    fileprivate var question: LinkQuestion? { if case .ask(let question) = self { question } else { nil } }

    fileprivate var refusal: (outcome: AppFlipOutcome, endsWithSignIn: Bool)? {
        if case .refused(let response, let endsWithSignIn) = self {
            (response.outcome, endsWithSignIn)
        } else {
            nil
        }
    }
}

/// Streamlined linking.
@Suite struct AssertionGrantTests {
    private let world: OAuthWorld

    init() throws { world = try OAuthWorld() }

    /// Signs in a user for whose address Google is authoritative.
    private func user(_ world: OAuthWorld, email: String = "ada@gmail.com") async throws -> Account {
        try await world.user { claims in
            claims["email"] = .string(email)
            // As Apple sends it for an address that is no relay.
            claims["is_private_email"] = nil
        }
    }

    private func linking(_ response: TokenEndpoint.Response) -> LinkingResponse? {
        if case .linking(let linking) = response { linking } else { nil }
    }

    @Test func `check finds an account by an address that both sides have verified`() async throws {
        _ = try await user(world)
        #expect(linking(try await world.assert("check", try world.googleToken())) == .accountFound)
        let unverified = try world.googleToken { $0["email_verified"] = .bool(false) }
        #expect(linking(try await world.assert("check", unverified)) == .accountNotFound)
        let stranger = try world.googleToken(email: "eve@gmail.com")
        #expect(linking(try await world.assert("check", stranger)) == .accountNotFound)
    }

    @Test func `an address that Google does not answer for finds no account`() async throws {
        _ = try await user(world, email: "ada@example.org")
        let token = try world.googleToken(email: "ada@example.org")
        #expect(linking(try await world.assert("check", token)) == .accountNotFound)
        let hosted = try world.googleToken(email: "ada@example.org") { $0["hd"] = .string("example.org") }
        #expect(linking(try await world.assert("check", hosted)) == .accountFound)
    }

    @Test func `a private relay address never finds an account`() async throws {
        let account = try await world.user()
        let token = try world.googleToken(email: account.email) { $0["hd"] = .string("x.org") }
        #expect(linking(try await world.assert("check", token)) == .accountNotFound)
    }

    @Test func `get gives tokens, and the Google account is known from then on`() async throws {
        let account = try await user(world)
        let tokens = try await world.assert("get", try world.googleToken()).tokens
        #expect(tokens.refreshToken != nil)
        #expect(tokens.scope == "openid email devices")
        #expect(try await world.isActive(tokens.accessToken))
        #expect(try await world.store.grants(of: account.id).first?.googleSubject == "g-1")
        // Now without the address.
        let later = try world.googleToken(email: nil)
        #expect(linking(try await world.assert("check", later)) == .accountFound)
    }

    @Test(arguments: ["get", "create"])
    func `it also tells which Google account an older link belongs to`(intent: String) async throws {
        let account = try await user(world)
        let tokens = try await world.linked(account.id)
        #expect(try await world.isActive(tokens.accessToken))
        _ = try await world.assert(intent, try world.googleToken())
        let event = try world.securityEvent("risc/event-type/sessions-revoked")
        #expect(try await SecurityEventReceiver(world.server).receive(event) == .applied)
        #expect(try await !world.isActive(tokens.accessToken))
    }

    @Test(arguments: ["get", "create"])
    func `without an account linking goes on in the browser`(intent: String) async throws {
        let response = linking(try await world.assert(intent, try world.googleToken()))
        #expect(response == .linkingError(loginHint: "ada@gmail.com", reason: .accountNotMatched))
        #expect(response?.status == 401)
    }

    @Test func `create makes an account only where the deployment allows it`() async throws {
        let world = try OAuthWorld { $0.allowsAccountsWithoutApple = true }
        let tokens = try await world.assert("create", try world.googleToken()).tokens
        #expect(try await world.isActive(tokens.accessToken))
        let again = linking(try await world.assert("create", try world.googleToken()))
        #expect(again == .linkingError(loginHint: "ada@gmail.com", reason: .accountExists))
    }

    @Test func `pre-hijacking: a stranger's account does not wait for the owner of an address`() async throws
    {
        let world = try OAuthWorld { $0.allowsAccountsWithoutApple = true }
        // Google has verified the address once, and does not answer for it.
        let stranger = try world.googleToken(email: "ada@example.org") { $0["sub"] = .string("g-stranger") }
        let first = try await world.assert("create", stranger).tokens
        let ada = try world.googleToken(email: "ada@example.org") { $0["hd"] = .string("example.org") }
        #expect(linking(try await world.assert("check", ada)) == .accountNotFound)
        #expect(linking(try await world.assert("get", ada))?.status == 401)
        let second = try await world.assert("create", ada).tokens
        #expect(try world.subject(first.accessToken) != world.subject(second.accessToken))
    }

    @Test(arguments: [
        ("ada@gmail.com", nil, true), ("ada@example.org", "example.org", true),
        ("ada@example.org", nil, false),
    ])
    func `an address is stored as verified only when Google answers for it`(
        email: String, domain: String?, isVerified: Bool
    ) async throws {
        let world = try OAuthWorld { $0.allowsAccountsWithoutApple = true }
        let token = try world.googleToken(email: email) { $0["hd"] = domain.map { .string($0) } }
        _ = try await world.assert("create", token)
        let account = try await world.signIn.account(
            subject: "google:g-1", clientID: world.app.rawValue, allowed: .all)
        #expect(account.isEmailVerified == isVerified)
    }

    @Test func `an account that a Google account made is found by it when its link has ended`() async throws {
        let world = try OAuthWorld { $0.allowsAccountsWithoutApple = true }
        let tokens = try await world.assert("create", try world.googleToken()).tokens
        let subject = try world.subject(tokens.accessToken)
        _ = try await SecurityEventReceiver(world.server).receive(
            try world.securityEvent("risc/event-type/sessions-revoked", jti: "set-1"))
        #expect(try await !world.isActive(tokens.accessToken))
        world.clock.advance(by: .seconds(5))
        let later = try world.googleToken(email: nil) { $0["iat"] = .integer(world.clock.secondsSince1970) }
        let again = try await world.assert("get", later).tokens
        #expect(try world.subject(again.accessToken) == subject)
    }

    enum Forgery: String, CaseIterable {
        case `another audience`, `another issuer`, expired, `issued in the future`, `without sub`
        case `not valid yet`, `valid from no time on`
        case `a security event token`, `not a token`, `another key`, `too long`
    }

    @Test(arguments: Forgery.allCases)
    func `a bad assertion is invalid_grant`(forgery: Forgery) async throws {
        _ = try await user(world)
        let now = world.clock.secondsSince1970
        let assertion: String
        switch forgery {
        case .`another audience`: assertion = try world.googleToken { $0["aud"] = .string("other") }
        case .`another issuer`:
            assertion = try world.googleToken { $0["iss"] = .string("https://appleid.apple.com") }
        case .expired: assertion = try world.googleToken { $0["exp"] = .integer(now - 61) }
        case .`issued in the future`: assertion = try world.googleToken { $0["iat"] = .integer(now + 61) }
        case .`not valid yet`: assertion = try world.googleToken { $0["nbf"] = .integer(now + 61) }
        case .`valid from no time on`: assertion = try world.googleToken { $0["nbf"] = .string("soon") }
        case .`without sub`: assertion = try world.googleToken { $0["sub"] = nil }
        case .`a security event token`:
            assertion = try world.googleToken { $0["events"] = .object(JSONObject()) }
        case .`not a token`: assertion = "a.b.c"
        case .`too long`:
            assertion = try world.googleToken { $0["hd"] = .string(String(repeating: "x", count: 8192)) }
        case .`another key`:
            let other = TokenMint(keyID: TokenMint.shared.keyID)
            let claims = try OAuthWorld.claims(try world.googleToken())
            assertion = try other.sign(try #require(claims.object))
        }
        await #expect(throws: OAuthError(.invalidGrant, "")) { _ = try await world.assert("get", assertion) }
    }

    @Test(arguments: [-3600, 0, 60] as [Int64])
    func `an assertion is good from nbf on, and within the leeway`(ahead: Int64) async throws {
        _ = try await user(world)
        let now = world.clock.secondsSince1970
        let token = try world.googleToken { $0["nbf"] = .integer(now + ahead) }
        #expect(linking(try await world.assert("check", token)) == .accountFound)
    }

    @Test func `a disabled Google account is not linked until it is enabled`() async throws {
        _ = try await user(world)
        let receiver = SecurityEventReceiver(world.server)
        _ = try await receiver.receive(
            try world.securityEvent("risc/event-type/account-disabled", jti: "set-1"))
        for intent in ["check", "get", "create"] {
            #expect(
                linking(try await world.assert(intent, try world.googleToken()))
                    == .linkingError(loginHint: "ada@gmail.com", reason: .googleAccountDisabled))
        }
        // In the same second: the times of Google's events are whole seconds.
        _ = try await receiver.receive(
            try world.securityEvent("risc/event-type/account-enabled", jti: "set-2"))
        #expect(linking(try await world.assert("get", try world.googleToken())) == nil)
    }

    @Test func `Google's keys that cannot be had are not the assertion's fault`() async throws {
        let world = try OAuthWorld(googleKeys: AbsentKeys())
        await #expect(throws: KeySetError(.keysUnavailable)) {
            _ = try await world.assert("check", try world.googleToken())
        }
    }
}

extension OAuthWorld {
    fileprivate func subject(_ accessToken: String) throws -> String {
        try #require(try Self.claims(accessToken)["sub"]?.string)
    }
}

/// A key set that could not be fetched.
struct AbsentKeys: VerificationKeys {
    func cachedKey(for keyID: String) -> RSAPublicKey? { nil }
    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
        throw KeySetError(.keysUnavailable)
    }
    var health: KeySetHealth { KeySetHealth(status: .unavailable(.unreachable), keyCount: 0) }
}
