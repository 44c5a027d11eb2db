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

/// Introspection, userinfo and revocation.
@Suite struct TokenQuestionTests {
    private func tokens(_ world: OAuthWorld) async throws -> (Account, TokenResponse) {
        let account = try await world.user()
        return (account, try await world.redeem(try await world.code(for: account.id)))
    }

    @Test func `introspection by another client or for another app tells nothing`() async throws {
        let world = try OAuthWorld()
        let (_, tokens) = try await tokens(world)
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
        let (account, tokens) = try await tokens(world)
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
        let world = try OAuthWorld()
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
        let world = try OAuthWorld()
        let (_, tokens) = try await tokens(world)
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
        let world = try OAuthWorld()
        let (_, tokens) = try await tokens(world)
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
        let world = try OAuthWorld()
        let (account, tokens) = try await tokens(world)
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
        let world = try OAuthWorld()
        let (account, tokens) = try await tokens(world)
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
        let world = try OAuthWorld()
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
