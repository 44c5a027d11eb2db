import AppleAccounts
import AppleIdentity
import AuthorizationServer
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

/// Streamlined linking.
@Suite struct AssertionGrantTests {
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
        let world = try OAuthWorld()
        _ = try await user(world)
        #expect(linking(try await world.assert("check", try world.googleToken())) == .accountFound)
        let unverified = try world.googleToken { $0["email_verified"] = .bool(false) }
        #expect(linking(try await world.assert("check", unverified)) == .accountNotFound)
        let stranger = try world.googleToken(email: "eve@gmail.com")
        #expect(linking(try await world.assert("check", stranger)) == .accountNotFound)
    }

    @Test func `an address that Google does not answer for finds no account`() async throws {
        let world = try OAuthWorld()
        _ = try await user(world, email: "ada@example.org")
        let token = try world.googleToken(email: "ada@example.org")
        #expect(linking(try await world.assert("check", token)) == .accountNotFound)
        let hosted = try world.googleToken(email: "ada@example.org") { $0["hd"] = .string("example.org") }
        #expect(linking(try await world.assert("check", hosted)) == .accountFound)
    }

    @Test func `a private relay address never finds an account`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        let token = try world.googleToken(email: account.email) { $0["hd"] = .string("x.org") }
        #expect(linking(try await world.assert("check", token)) == .accountNotFound)
    }

    @Test func `get gives tokens, and the Google account is known from then on`() async throws {
        let world = try OAuthWorld()
        let account = try await user(world)
        guard case .tokens(let tokens) = try await world.assert("get", try world.googleToken()) else {
            throw OAuthWorld.NoTokens()
        }
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
        let world = try OAuthWorld()
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
        let world = try OAuthWorld()
        let response = linking(try await world.assert(intent, try world.googleToken()))
        #expect(response == .linkingError(loginHint: "ada@gmail.com", reason: .accountNotMatched))
        #expect(response?.status == 401)
    }

    @Test func `create makes an account only where the deployment allows it`() async throws {
        let world = try OAuthWorld { $0.allowsAccountsWithoutApple = true }
        guard case .tokens(let tokens) = try await world.assert("create", try world.googleToken()) else {
            throw OAuthWorld.NoTokens()
        }
        #expect(try await world.isActive(tokens.accessToken))
        let again = linking(try await world.assert("create", try world.googleToken()))
        #expect(again == .linkingError(loginHint: "ada@gmail.com", reason: .accountExists))
    }

    @Test func `pre-hijacking: a stranger's account does not wait for the owner of an address`() async throws
    {
        let world = try OAuthWorld { $0.allowsAccountsWithoutApple = true }
        // Google has verified the address once, and does not answer for it.
        let stranger = try world.googleToken(email: "ada@example.org") { $0["sub"] = .string("g-stranger") }
        guard case .tokens(let first) = try await world.assert("create", stranger) else {
            throw OAuthWorld.NoTokens()
        }
        let ada = try world.googleToken(email: "ada@example.org") { $0["hd"] = .string("example.org") }
        #expect(linking(try await world.assert("check", ada)) == .accountNotFound)
        #expect(linking(try await world.assert("get", ada))?.status == 401)
        guard case .tokens(let second) = try await world.assert("create", ada) else {
            throw OAuthWorld.NoTokens()
        }
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

    @Test func `an account that a Google account has made is found by it when its link has ended`()
        async throws
    {
        let world = try OAuthWorld { $0.allowsAccountsWithoutApple = true }
        guard case .tokens(let tokens) = try await world.assert("create", try world.googleToken()) else {
            throw OAuthWorld.NoTokens()
        }
        let subject = try world.subject(tokens.accessToken)
        _ = try await SecurityEventReceiver(world.server).receive(
            try world.securityEvent("risc/event-type/sessions-revoked", jti: "set-1"))
        #expect(try await !world.isActive(tokens.accessToken))
        world.clock.advance(by: .seconds(5))
        let later = try world.googleToken(email: nil) { $0["iat"] = .integer(world.clock.secondsSince1970) }
        guard case .tokens(let again) = try await world.assert("get", later) else {
            throw OAuthWorld.NoTokens()
        }
        #expect(try world.subject(again.accessToken) == subject)
    }

    enum Forgery: String, CaseIterable {
        case `another audience`, `another issuer`, expired, `issued in the future`, `without sub`
        case `not valid yet`, `valid from no time on`
        case `a security event token`, `not a token`, `another key`, `too long`
    }

    @Test(arguments: Forgery.allCases)
    func `a bad assertion is invalid_grant`(forgery: Forgery) async throws {
        let world = try OAuthWorld()
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
        let world = try OAuthWorld()
        _ = try await user(world)
        let now = world.clock.secondsSince1970
        let token = try world.googleToken { $0["nbf"] = .integer(now + ahead) }
        #expect(linking(try await world.assert("check", token)) == .accountFound)
    }

    @Test func `a disabled Google account is not linked until it is enabled`() async throws {
        let world = try OAuthWorld()
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
