import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Cryptography
import Encodings
import JOSE
import KeySets
import Logging
import OAuthSamples
import SignIn
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import OAuth

/// Introspection, userinfo and revocation.
@Suite struct TokenQuestionTests {
    private let world: OAuthWorld

    init() throws { world = try OAuthWorld() }

    @Test func `introspection by another client or for another app tells nothing`() async throws {
        let (_, tokens) = try await world.signedIn()
        let introspection = TokenIntrospection(world.server)
        let other = ClientID("com.example.other")
        for token in [tokens.accessToken, try #require(tokens.refreshToken)] {
            let own = TokenIntrospection.Caller.client(try world.client("shop"))
            #expect(try await introspection.description(of: token, for: own) != nil)
            let foreign = TokenIntrospection.Caller.client(try world.client("google"))
            #expect(try await introspection.description(of: token, for: foreign) == nil)
            #expect(try await introspection.description(of: token, for: .apps(.only([other]))) == nil)
        }
    }

    /// An access token that was issued when its client had more scopes.
    private func issuedBefore(_ world: OAuthWorld, _ tokens: TokenResponse, scope: String) async throws
        -> String
    {
        let now = try #require(try await world.server.genuineAccessToken(tokens.accessToken))
        let before = AccessToken(
            issuer: now.issuer, audience: now.audience, accountID: now.accountID, clientID: now.clientID,
            familyID: now.familyID, random: now.random, scope: scope, issuedAt: now.issuedAt,
            expiresAt: now.expiresAt, authenticatedAt: now.authenticatedAt)
        return try before.signed(with: try await world.server.dependencies.keys.signingKey(.ES256))
    }

    @Test func `a scope that was taken from a client is gone from its tokens`() async throws {
        let world = try OAuthWorld { $0.clients[0].scopes = ["openid", "offline_access"] }
        let (account, tokens) = try await world.signedIn()
        let access = try await issuedBefore(world, tokens, scope: "openid profile email offline_access")
        for token in [access, try #require(tokens.refreshToken)] {
            let description = try #require(
                try await TokenIntrospection(world.server).description(of: token, for: .apps(.all)))
            var json = JSONWriter(reservingCapacity: 512)
            description.write(into: &json)
            #expect(try JSONValue(parsing: json.bytes)["scope"]?.string == "openid offline_access")
        }
        let claims = try JSONValue(parsing: try await UserInfo(world.server).claims(accessToken: access))
        #expect(claims["sub"]?.string == account.id.rawValue)
        #expect(claims["email"] == nil && claims["name"] == nil)
        let rest = try await issuedBefore(world, tokens, scope: "profile email")
        #expect(try await !world.isActive(rest))
    }

    @Test func `a token of any length is asked about`() async throws {
        for token in ["", String(repeating: "x", count: 16_000)] {
            #expect(try await !world.isActive(token))
            try await TokenRevocation(world.server).revoke(token, of: try world.client("shop"))
        }
    }

    enum Forgery: String, CaseIterable {
        case `an ID token`, `alg none`, `alg of another key`, `an unknown kid`, `another payload`, `no typ`
        case `empty`, `a longer signature`
    }

    @Test(arguments: Forgery.allCases)
    func `a forged access token is inactive (alg tricks on our own tokens)`(forgery: Forgery) async throws {
        let (_, tokens) = try await world.signedIn()
        var segments = try #require(JWSSegments(compact: tokens.accessToken))
        var header = try #require(try JSONValue(parsing: segments.header).object)
        func forged() -> String {
            segments.header = JSONValue.object(header).serialized()
            return segments.compact
        }
        let text: String
        switch forgery {
        case .`an ID token`: text = try #require(tokens.idToken)
        case .`alg none`:
            header["alg"] = .string("none")
            text = forged()
        case .`alg of another key`:
            header["alg"] = .string("RS256")
            text = forged()
        case .`an unknown kid`:
            header["kid"] = .string("other")
            text = forged()
        case .`another payload`:
            var claims = try #require(try JSONValue(parsing: segments.payload).object)
            claims["scope"] = .string("openid profile email devices")
            segments.payload = JSONValue.object(claims).serialized()
            text = forged()
        case .`no typ`:
            header["typ"] = nil
            text = forged()
        case .empty: text = ""
        case .`a longer signature`:
            segments.signature.append(0)
            text = forged()
        }
        #expect(try await !world.isActive(text))
        await #expect(throws: OAuthError(.invalidToken, "")) {
            _ = try await UserInfo(world.server).claims(accessToken: text)
        }
    }

    @Test func `an access token expires, and ends with its user's consent`() async throws {
        let (_, tokens) = try await world.signedIn()
        world.clock.advance(by: .seconds(3599))
        #expect(try await world.isActive(tokens.accessToken))
        world.clock.advance(by: .seconds(1))
        #expect(try await !world.isActive(tokens.accessToken))
        let fresh = try await world.refresh(tokens.refreshToken)
        #expect(try await world.isActive(fresh.accessToken))
        try await world.notify("consent-revoked", secondsLater: 3600)
        #expect(try await !world.isActive(fresh.accessToken))
    }

    @Test func `userinfo shows what the scope allows`() async throws {
        let (account, tokens) = try await world.signedIn()
        let info = UserInfo(world.server)
        let all = try JSONValue(parsing: try await info.claims(accessToken: tokens.accessToken))
        #expect(all["sub"]?.string == account.id.rawValue)
        #expect(all["email"]?.string == account.email)
        #expect(all["family_name"]?.string == "Lovelace")
        let narrow = try await world.refresh(tokens.refreshToken, scope: "openid")
        let few = try JSONValue(parsing: try await info.claims(accessToken: narrow.accessToken))
        #expect(few.object?.members.map(\.name) == ["sub"])
        let without = try await world.refresh(narrow.refreshToken, scope: "email")
        await #expect(throws: OAuthError(.insufficientScope, "")) {
            _ = try await info.claims(accessToken: without.accessToken)
        }
    }

    @Test(arguments: [true, false])
    func `either token takes the other along`(byAccessToken: Bool) async throws {
        let (account, tokens) = try await world.signedIn()
        let refreshToken = try #require(tokens.refreshToken)
        let revocation = TokenRevocation(world.server)
        let token = byAccessToken ? tokens.accessToken : refreshToken
        // Another client's revocation has no effect.
        try await revocation.revoke(token, of: try world.client("google"))
        #expect(try await world.isActive(tokens.accessToken))
        try await revocation.revoke(token, of: try world.client("shop"))
        #expect(try await !world.isActive(tokens.accessToken))
        #expect(try await !world.isActive(refreshToken))
        #expect(try await world.store.grants(of: account.id).isEmpty)
        try await revocation.revoke(token, of: try world.client("shop"))
        try await revocation.revoke("x", of: try world.client("shop"))
    }

    @Test func `the app's backend lists and ends grants`() async throws {
        let account = try await world.user()
        let tokens = try await world.linked(account.id)
        let grants = GrantUseCases(world.server)
        let listed = try await grants.grants(of: account.id.rawValue, allowed: .all)
        #expect(listed.map(\.grant.oauthClientID.rawValue) == ["google"])
        let id = try #require(listed.first?.grant.id.rawValue)
        let other = ClientID("com.example.other")
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await grants.end(id, of: account.id.rawValue, allowed: .only([other]))
        }
        try await grants.end(id, of: account.id.rawValue, allowed: .all)
        #expect(try await !world.isActive(tokens.accessToken))
        await #expect(throws: GrantNotFound()) {
            try await grants.end(id, of: account.id.rawValue, allowed: .all)
        }
    }
}

/// Attacks of RFC 9700 and RFC 6819 that need an earlier code or token.
@Suite struct ServedTokenAttackTests {
    private let world: OAuthWorld

    init() throws { world = try OAuthWorld() }

    @Test func `code injection: a stolen code fails in the session of another proof key`() async throws {
        let account = try await world.user()
        let stolen = try await world.code(for: account.id)
        // The attacker's own authorization had another challenge, and the client sends the verifier of that
        // one.
        let verifier = String(repeating: "a", count: 43)
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await world.redeem(stolen, verifier: verifier)
        }
        #expect(try await world.redeem(stolen).refreshToken != nil)
    }

    @Test func `code replay by another client ends nothing`() async throws {
        let (_, code) = try await world.userWithCode()
        let tokens = try await world.redeem(code)
        world.clock.advance(by: .seconds(60))
        for (client, uri, verifier) in [
            ("google", OAuthSample.shopURI, OAuthWorld.verifier),
            ("shop", OAuthSample.shopURI + "x", OAuthWorld.verifier),
            ("shop", OAuthSample.shopURI, String(repeating: "a", count: 43)),
        ] {
            await #expect(throws: OAuthError(.invalidGrant, "")) {
                _ = try await world.redeem(code, as: client, uri: uri, verifier: verifier)
            }
            #expect(try await world.isActive(tokens.accessToken))
        }
    }

    @Test func `access token used as ID token and the other way: neither passes for the other`() async throws
    {
        let (_, tokens) = try await world.signedIn()
        let identity = try #require(tokens.idToken)
        func type(_ token: String) throws -> String? {
            let segments = try #require(JWSSegments(compact: token))
            return try JSONValue(parsing: segments.header)["typ"]?.string
        }
        #expect(try type(tokens.accessToken) == "at+jwt")
        #expect(try type(identity) == "JWT")
        // A client looks for itself in `aud`, an API for itself.
        #expect(try OAuthWorld.claims(tokens.accessToken)["aud"]?.string == OAuthSample.issuer)
        #expect(try OAuthWorld.claims(identity)["aud"]?.string == "shop")
        #expect(try await !world.isActive(identity))
        await #expect(throws: OAuthError(.invalidToken, "")) {
            _ = try await UserInfo(world.server).claims(accessToken: identity)
        }
        try await TokenRevocation(world.server).revoke(identity, of: try world.client("shop"))
        #expect(try await world.isActive(tokens.accessToken))
        let error = await #expect(throws: (any Error).self) { try await world.refresh(tokens.accessToken) }
        #expect(OAuthWorld.code(of: error) == .invalidGrant)
    }

    @Test func `refresh token as access token: an API can tell it by token_type`() async throws {
        let (_, tokens) = try await world.signedIn()
        func told(_ token: String) async throws -> JSONValue {
            let description = try #require(
                try await TokenIntrospection(world.server).description(of: token, for: .apps(.all)))
            var json = JSONWriter(reservingCapacity: 512)
            description.write(into: &json)
            return try JSONValue(parsing: json.bytes)
        }
        let refreshToken = try #require(tokens.refreshToken)
        #expect(try await told(tokens.accessToken)["token_type"]?.string == "Bearer")
        #expect(try await told(refreshToken)["token_type"] == nil)
        #expect(try await told(refreshToken)["iat"]?.integer == world.clock.secondsSince1970)
        await #expect(throws: OAuthError(.invalidToken, "")) {
            _ = try await UserInfo(world.server).claims(accessToken: refreshToken)
        }
    }

    @Test func `existence oracle: every failure of a code or token has the same answer`() async throws {
        let account = try await world.user()
        var responses: Set<[UInt8]> = []
        func fails(_ parameters: [String: String], as client: String = "shop") async {
            do {
                _ = try await world.tokens(parameters, as: client)
                Issue.record("it succeeded")
            } catch let error as OAuthError {
                responses.insert(error.json)
            } catch {
                Issue.record(error)
            }
        }
        func code(_ text: String) -> [String: String] {
            [
                "grant_type": "authorization_code", "code": text, "redirect_uri": OAuthSample.shopURI,
                "code_verifier": OAuthWorld.verifier,
            ]
        }
        func refresh(_ text: String?) -> [String: String] {
            ["grant_type": "refresh_token", "refresh_token": text ?? ""]
        }
        let used = try await world.code(for: account.id)
        let tokens = try await world.redeem(used)
        let fresh = try await world.code(for: account.id)
        await fails(code("x"))
        await fails(code(used))
        await fails(code(fresh), as: "google")
        await fails(code(fresh).merging(["code_verifier": String(OAuthWorld.verifier.reversed())]) { $1 })
        await fails(refresh("x"))
        await fails(refresh(tokens.refreshToken), as: "desktop")
        try await world.notify("consent-revoked")
        await fails(code(fresh))
        await fails(refresh(tokens.refreshToken))
        #expect(responses.count == 1)
    }

    @Test func `the limits are those of the configuration, and the oldest ends`() async throws {
        let world = try OAuthWorld { draft in
            draft.nativeRefreshTokenLimit = 2
            for index in draft.clients.indices { draft.clients[index].refreshTokenLimit = 3 }
        }
        let account = try await world.user()
        let google = try await world.linked(account.id)
        func tokens(_ count: Int, client: String, uri: String) async throws -> [TokenResponse] {
            var tokens: [TokenResponse] = []
            for _ in 0..<count {
                world.clock.advance(by: .seconds(1))
                let code = try await world.code(
                    for: account.id, client: client, uri: uri, scope: "openid offline_access")
                tokens.append(try await world.redeem(code, as: client, uri: uri))
            }
            return tokens
        }
        func active(_ tokens: [TokenResponse]) async throws -> [Bool] {
            var active: [Bool] = []
            for token in tokens { active.append(try await world.isActive(token.accessToken)) }
            return active
        }
        let shop = try await tokens(4, client: "shop", uri: OAuthSample.shopURI)
        #expect(try await active(shop) == [false, true, true, true])
        let desktop = try await tokens(3, client: "desktop", uri: OAuthSample.desktopURI)
        #expect(try await active(desktop) == [false, true, true])
        #expect(try await active(shop + [google]) == [false, true, true, true, true])
    }
}

/// Tokens, App Flip and streamlined linking of a user who is disabled or signed out.
@Suite struct DisabledAccountTests {
    private func disable(_ account: Account, _ world: OAuthWorld) async throws {
        try await world.store.change(DisableCommand.sample(account, at: world.now))
    }

    private func enable(_ account: Account, _ world: OAuthWorld) async throws {
        try await world.store.change(EnableCommand.sample(account, at: world.now))
    }

    @Test func `tokens are suspended for every caller, and good again afterwards`() async throws {
        let world = try OAuthWorld()
        let (account, tokens) = try await world.signedIn()
        let code = try await world.code(for: account.id)
        let refreshToken = try #require(tokens.refreshToken)
        try await disable(account, world)
        #expect(try await !world.isActive(tokens.accessToken))
        #expect(try await !world.isActive(refreshToken))
        let userInfo = UserInfo(world.server)
        await #expect(throws: OAuthError(.invalidToken, "")) {
            _ = try await userInfo.claims(accessToken: tokens.accessToken)
        }
        await #expect(throws: OAuthError.invalidGrant(.accountDisabled)) {
            _ = try await world.refresh(refreshToken)
        }
        await #expect(throws: OAuthError.invalidGrant(.accountDisabled)) { _ = try await world.redeem(code) }
        try await enable(account, world)
        #expect(try await world.isActive(tokens.accessToken))
        _ = try await userInfo.claims(accessToken: tokens.accessToken)
        #expect(try await world.refresh(refreshToken).refreshToken != nil)
        _ = try await world.redeem(code)
    }

    @Test func `App Flip is unrecoverable, by an identity token and by an account`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        try await disable(account, world)
        var call = AppFlipRequestBody()
        (call.clientID, call.redirectURI) = ("google", OAuthSample.appFlipURI)
        (call.state, call.scope, call.decision) = ("s", "openid", "granted")
        let flip = AppFlip(world.server)
        for isToken in [true, false] {
            var call = call
            if isToken { call.identityToken = try world.identityToken() }
            if !isToken { call.accountID = account.id.rawValue }
            let response = try await flip.response(call, caller: .all)
            #expect(response.outcome == .unrecoverable)
            #expect(response.redirectTo.contains("error=unrecoverable"))
            // The account can be linked again, so that this is not the sentence for an erased account.
            #expect(response.message.contains("disabled this account"))
            #expect(response.redirectTo.contains("disabled%20this%20account"))
        }
        call.accountID = account.id.rawValue
        guard case .refused(let prompt, let endsWithSignIn) = try await flip.prompt(call, caller: .all) else {
            Issue.record("a disabled account is asked")
            return
        }
        #expect(prompt.outcome == .unrecoverable && prompt.message.contains("disabled this account"))
        #expect(!endsWithSignIn)
        call.accountID = nil
        #expect(try await world.store.grants(of: account.id).isEmpty)
        try await enable(account, world)
        call.accountID = account.id.rawValue
        #expect(try await flip.response(call, caller: .all).outcome == .code)
    }

    @Test func `streamlined linking finds the account, and links and creates nothing`() async throws {
        let world = try OAuthWorld { $0.allowsAccountsWithoutApple = true }
        let account = try await world.user { claims in
            claims["email"] = .string("ada@gmail.com")
            claims["is_private_email"] = nil
        }
        try await disable(account, world)
        func linking(_ intent: String) async throws -> LinkingResponse? {
            guard case .linking(let response) = try await world.assert(intent, world.googleToken())
            else { return nil }
            return response
        }
        #expect(try await linking("check") == .accountFound)
        for (intent, reason) in [("get", .accountDisabled), ("create", .accountExists)]
            as [(String, TokenRefusalReason)]
        { #expect(try await linking(intent) == .linkingError(loginHint: "ada@gmail.com", reason: reason)) }
        // Also when Apple has ended the credential: a new account in its place would enable the user.
        try await world.notify("consent-revoked")
        #expect(
            try await linking("create")
                == .linkingError(loginHint: "ada@gmail.com", reason: .accountExists))
    }

    @Test func `a sign-out leaves the links with Google alone unless they are asked for`() async throws {
        let world = try OAuthWorld()
        let (account, shop) = try await world.signedIn()
        let google = try await world.linked(account.id)
        let useCases = GrantUseCases(world.server)
        let changed = try await useCases.signOut(account.id.rawValue, endsGoogleLinks: false, allowed: .all)
        #expect(changed.sessionsEndedAt == world.now)
        #expect(try await !world.isActive(shop.accessToken))
        #expect(try await world.isActive(google.accessToken))
        _ = try await useCases.signOut(account.id.rawValue, endsGoogleLinks: true, allowed: .all)
        #expect(try await !world.isActive(google.accessToken))
        #expect(try await world.reported().count == 1)
        // The authentication that the code was for is over.
        await #expect(throws: GrantRefusal(.credentialRevoked)) { _ = try await world.code(for: account.id) }
    }
}

@Suite struct EndedSessionsTests {
    private static let session = BrowserSession(
        accountID: AccountID(UniqueID(high: 1, low: 1)), clientID: "com.example.app",
        authenticatedAt: 1_000_000,
        expiresAt: 2_000_000)

    @Test func `a replica with a slow clock finds the end after another has purged it`() async throws {
        let store = ReferenceStore()
        let ended = EndedSessions(tickets: store)
        try await ended.insert(Self.session)
        try await ended.insert(Self.session)
        _ = try await store.purgeTickets(expiredBefore: 2_300_000)
        #expect(try await ended.contains(Self.session, at: 1_999_999))
        _ = try await store.purgeTickets(expiredBefore: 2_400_000)
        #expect(try await !ended.contains(Self.session, at: 1_999_999))
    }
}

@Suite struct OAuthMaintenanceTests {
    @Test func `keys are made ahead, and codes are forgotten a day past their expiry`() async throws {
        let world = try OAuthWorld()
        let (account, code) = try await world.userWithCode()
        _ = try await world.redeem(code)
        let maintenance = OAuthMaintenance(server: world.server, clock: HurriedClock(), logger: .silent)
        await maintenance.refreshKeys()
        #expect(Set(try await world.store.signingKeys().map(\.algorithm)) == ["ES256", "RS256"])
        world.clock.advance(by: .seconds(600 + 86_400 + 1))
        #expect(try await world.store.purgeGrants(at: world.now) > 0)
        await maintenance.purgeGrants()
        #expect(try await world.store.purgeGrants(at: world.now) == 0)
        // What the code gave lives on.
        #expect(try await world.store.grants(of: account.id).count == 1)
    }
}
