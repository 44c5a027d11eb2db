import AppleAccounts
import AppleIdentity
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

@testable import AuthorizationServer
@testable import OAuth

@Suite struct CodeRedemptionTests {
    private let world: OAuthWorld

    init() throws { world = try OAuthWorld() }

    @Test func `a code gives an access token, a refresh token and an ID token`() async throws {
        let (account, tokens) = try await world.signedIn()
        #expect(tokens.expiresIn == 3600)
        #expect(tokens.scope == "openid profile email offline_access")
        #expect(tokens.refreshToken?.hasPrefix("siwa_rt_") == true)

        let access = try OAuthWorld.claims(tokens.accessToken)
        #expect(access["iss"]?.string == OAuthSample.issuer)
        #expect(access["aud"]?.string == OAuthSample.issuer)
        #expect(access["sub"]?.string == account.id.rawValue)
        #expect(access["client_id"]?.string == "shop")
        #expect(access["auth_time"]?.integer == TokenMint.sampleTime)
        #expect(access["exp"]?.integer == world.clock.secondsSince1970 + 3600)

        let identity = try OAuthWorld.claims(try #require(tokens.idToken))
        #expect(identity["aud"]?.string == "shop")
        #expect(identity["nonce"]?.string == "n-0S6")
        #expect(identity["name"]?.string == "Ada Lovelace")
        #expect(identity["is_private_email"]?.bool == true)
        #expect(identity["at_hash"]?.string == IDToken.hash(ofAccessToken: tokens.accessToken))
        #expect(try await world.isActive(tokens.accessToken))
        #expect(try await world.isActive(try #require(tokens.refreshToken)))
    }

    @Test func `an address that Apple says nothing of is no private one`() async throws {
        let account = try await world.user { claims in
            claims["email"] = .string("ada@gmail.com")
            claims["is_private_email"] = nil
        }
        let tokens = try await world.redeem(try await world.code(for: account.id))
        let identity = try OAuthWorld.claims(try #require(tokens.idToken))
        #expect(identity["email"]?.string == "ada@gmail.com")
        #expect(identity["is_private_email"]?.bool == false)
    }

    @Test func `a code gives no scope that was taken from its client since`() async throws {
        // The shop does not have this scope.
        let account = try await world.user()
        let code = try await world.code(for: account.id, scope: "openid devices offline_access")
        let tokens = try await world.redeem(code)
        #expect(tokens.scope == "openid offline_access")
        #expect(try OAuthWorld.claims(tokens.accessToken)["scope"]?.string == "openid offline_access")
        let rest = try await world.code(for: account.id, scope: "devices")
        await #expect(throws: OAuthError(.invalidGrant, "")) { _ = try await world.redeem(rest) }
    }

    @Test func `a code without any scope left is kept, and gives tokens when the scope is back`() async throws
    {
        let (_, code) = try await world.userWithCode()
        let without = try OAuthWorld(after: world) { $0.clients[0].scopes = ["devices"] }
        await #expect(throws: OAuthError(.invalidGrant, "")) { _ = try await without.redeem(code) }
        world.clock.advance(by: .seconds(11))
        #expect(try await world.redeem(code).scope == "openid profile email offline_access")
    }

    @Test func `a code gives no refresh token after its client lost offline_access`() async throws {
        let world = try OAuthWorld { $0.clients[0].scopes = ["openid", "email"] }
        let (_, tokens) = try await world.signedIn()
        #expect(tokens.scope == "openid email")
        #expect(tokens.refreshToken == nil)
        #expect(try await world.isActive(tokens.accessToken))
    }

    @Test func `an ID token has no claims of a scope that was taken from its client since`() async throws {
        let world = try OAuthWorld { $0.clients[0].scopes = ["openid"] }
        let (account, tokens) = try await world.signedIn()
        let identity = try OAuthWorld.claims(try #require(tokens.idToken))
        #expect(identity["sub"]?.string == account.id.rawValue)
        #expect(identity["email"] == nil && identity["name"] == nil)
    }

    @Test func `claims about the user follow the scope`() async throws {
        let account = try await world.user()
        let code = try await world.code(for: account.id, scope: "openid offline_access")
        let identity = try OAuthWorld.claims(try #require(try await world.redeem(code).idToken))
        for claim in ["email", "email_verified", "is_private_email", "name", "given_name", "family_name"] {
            #expect(identity[claim] == nil)
        }
        let other = try await world.redeem(try await world.code(for: account.id, scope: "email"))
        #expect(other.idToken == nil)
        // A web client without offline_access has no refresh token.
        #expect(other.refreshToken == nil)
    }

    enum Attack: String, CaseIterable {
        case `code for another client`, `another redirect URI`, `no redirect URI`,
            `a prefix of the redirect URI`
        case `no code verifier`, `another code verifier`,
            `the challenge sent as verifier (plain sent as S256)`
        case `an unknown code`, `an expired code`
    }

    @Test(arguments: Attack.allCases)
    func `an attack on a code is invalid_grant and does not use it up`(attack: Attack) async throws {
        let (_, code) = try await world.userWithCode()
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            switch attack {
            case .`code for another client`: _ = try await world.redeem(code, as: "google")
            case .`another redirect URI`: _ = try await world.redeem(code, uri: OAuthSample.shopURI + "?a=b")
            case .`no redirect URI`:
                _ = try await world.tokens([
                    "grant_type": "authorization_code", "code": code, "code_verifier": OAuthWorld.verifier,
                ])
            case .`a prefix of the redirect URI`:
                _ = try await world.redeem(code, uri: String(OAuthSample.shopURI.dropLast()))
            case .`no code verifier`: _ = try await world.redeem(code, verifier: nil)
            case .`another code verifier`:
                _ = try await world.redeem(code, verifier: String(OAuthWorld.verifier.reversed()))
            case .`the challenge sent as verifier (plain sent as S256)`:
                _ = try await world.redeem(code, verifier: OAuthWorld.challenge)
            case .`an unknown code`:
                _ = try await world.redeem("siwa_ac_" + String(code.dropFirst(8).reversed()))
            case .`an expired code`:
                world.clock.advance(by: .seconds(600))
                _ = try await world.redeem(code)
            }
        }
        if attack == .`an expired code` { world.clock.advance(by: .seconds(-600)) }
        #expect(try await world.redeem(code).refreshToken != nil)
    }

    /// RFC 7636 §4.1: 43 to 128 unreserved characters. A short verifier can be guessed from the challenge.
    @Test(arguments: [
        "short", String(repeating: "a", count: 42), String(repeating: "a", count: 129),
        String(repeating: "a", count: 42) + " ", String(repeating: "a", count: 42) + "\u{E9}",
    ])
    func `a malformed code verifier is a malformed request, also when it was the challenge's`(
        verifier: String
    )
        async throws
    {
        let account = try await world.user()
        let challenge = Base64URL.encode(SHA256Digest.hash(verifier).bytes)
        let code = try await world.code(for: account.id, challenge: challenge)
        let error = await #expect(throws: (any Error).self) {
            _ = try await world.redeem(code, verifier: verifier)
        }
        #expect(OAuthWorld.code(of: error) == .invalidRequest)
        // It says so of every code: whether there is one with this name was not looked for.
        let unknown = await #expect(throws: (any Error).self) {
            _ = try await world.redeem("siwa_ac_" + String(code.dropFirst(8).reversed()), verifier: verifier)
        }
        #expect("\(unknown, default: "")" == "\(error, default: "")")
    }

    @Test func `a code verifier without a challenge is refused (PKCE downgrade)`() async throws {
        let account = try await world.user()
        let code = try await world.code(for: account.id, challenge: nil)
        await #expect(throws: OAuthError(.invalidGrant, "")) { _ = try await world.redeem(code) }
    }

    @Test func `of twenty redemptions at once exactly one succeeds`() async throws {
        let (_, code) = try await world.userWithCode()
        let successes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { (try? await world.redeem(code)) != nil } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(successes == 1)
    }

    @Test func `a retry ends nothing, and a later reuse ends what the code gave (code replay)`() async throws
    {
        let (_, code) = try await world.userWithCode()
        let tokens = try await world.redeem(code)
        world.clock.advance(by: .seconds(9))
        await #expect(throws: OAuthError(.invalidGrant, "")) { _ = try await world.redeem(code) }
        #expect(try await world.isActive(tokens.accessToken))
        world.clock.advance(by: .seconds(1))
        await #expect(throws: OAuthError(.invalidGrant, "")) { _ = try await world.redeem(code) }
        #expect(try await !world.isActive(tokens.accessToken))
        #expect(try await !world.isActive(try #require(tokens.refreshToken)))
    }

    @Test func `another resource is invalid_target`() async throws {
        let (_, code) = try await world.userWithCode()
        await #expect(throws: TokenEndpointError(.invalidTarget, "")) {
            _ = try await world.tokens([
                "grant_type": "authorization_code", "code": code, "redirect_uri": OAuthSample.shopURI,
                "code_verifier": OAuthWorld.verifier, "resource": "https://other.example.com",
            ])
        }
        #expect(try await world.redeem(code).refreshToken != nil)
    }
}

@Suite struct TokenRefreshTests {
    private let world: OAuthWorld

    init() throws { world = try OAuthWorld() }

    private func desktop(_ world: OAuthWorld) async throws -> TokenResponse {
        let account = try await world.user()
        let code = try await world.code(
            for: account.id, client: "desktop", uri: OAuthSample.desktopURI, scope: "openid email")
        return try await world.redeem(code, as: "desktop", uri: OAuthSample.desktopURI)
    }

    @Test func `a native client gets a refresh token without offline_access, and it is rotated`() async throws
    {
        let first = try await desktop(world)
        let second = try await world.refresh(first.refreshToken, as: "desktop")
        #expect(second.refreshToken != first.refreshToken)
        #expect(second.scope == "openid email")
        #expect(try await world.isActive(second.accessToken))
        let third = try await world.refresh(second.refreshToken, as: "desktop")
        #expect(third.refreshToken != nil)
    }

    @Test func `a refresh gives no scope that was taken from the client since`() async throws {
        let world = try OAuthWorld { $0.clients[1].scopes = ["openid"] }
        let first = try await desktop(world)
        let second = try await world.refresh(first.refreshToken, as: "desktop")
        #expect(second.scope == "openid")
        #expect(try OAuthWorld.claims(second.accessToken)["scope"]?.string == "openid")
    }

    @Test func `a token without any scope left is kept, and refreshes when the scope is back`() async throws {
        let first = try await desktop(world)
        let without = try OAuthWorld(after: world) { $0.clients[1].scopes = ["profile"] }
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await without.refresh(first.refreshToken, as: "desktop")
        }
        world.clock.advance(by: .seconds(31))
        let back = try OAuthWorld(after: world) { $0.clients[1].scopes = ["openid"] }
        let second = try await back.refresh(first.refreshToken, as: "desktop")
        #expect(second.scope == "openid")
        #expect(try await world.refresh(second.refreshToken, as: "desktop").scope == "openid email")
    }

    @Test func `without offline_access a web client cannot refresh, until the scope is back`() async throws {
        let (_, first) = try await world.signedIn()
        let without = try OAuthWorld(after: world) { $0.clients[0].scopes = ["openid", "email"] }
        await #expect(throws: OAuthError(.invalidGrant, "")) { try await without.refresh(first.refreshToken) }
        #expect(try await !without.isActive(try #require(first.refreshToken)))
        #expect(try await without.isActive(first.accessToken))
        world.clock.advance(by: .seconds(31))
        #expect(try await world.refresh(first.refreshToken).refreshToken != nil)
    }

    @Test func `a lost answer comes again for a day while its successor is unused`() async throws {
        let first = try await desktop(world)
        let lost = try await world.refresh(first.refreshToken, as: "desktop")
        world.clock.advance(by: .seconds(86_399))
        let second = try await world.refresh(first.refreshToken, as: "desktop")
        #expect(second.refreshToken == lost.refreshToken)
        #expect(second.accessToken != lost.accessToken)
        #expect(try await world.refresh(second.refreshToken, as: "desktop").refreshToken != nil)
    }

    @Test func `two threads of an app that refresh at once both keep their user signed in`() async throws {
        let first = try await desktop(world)
        let one = try await world.refresh(first.refreshToken, as: "desktop")
        let other = try await world.refresh(first.refreshToken, as: "desktop")
        #expect(one.refreshToken == other.refreshToken)
        // An hour later, when both access tokens have expired.
        world.clock.advance(by: .seconds(3600))
        let next = try await world.refresh(one.refreshToken, as: "desktop")
        #expect(try await world.refresh(other.refreshToken, as: "desktop").refreshToken == next.refreshToken)
        #expect(try await world.isActive(try #require(next.refreshToken)))
        #expect(try await !world.isActive(try #require(other.refreshToken)))
    }

    /// Seconds of `oauth.refresh_retry_window`, of the member of the client, and the window that holds.
    @Test(
        arguments: [(nil, nil, 60), (0, nil, 0), (600, nil, 600), (600, 5, 5), (nil, 0, 0)]
            as [(Int64?, Int64?, Int64)])
    func `the window of a client precedes that of all`(all: Int64?, own: Int64?, window: Int64) async throws {
        for seconds in [window - 1, window] where seconds >= 0 {
            let world = try OAuthWorld {
                ($0.refreshRetryWindow, $0.clients[1].refreshRetryWindow) = (all, own)
            }
            let first = try await desktop(world)
            let second = try await world.refresh(first.refreshToken, as: "desktop")
            let third = try await world.refresh(second.refreshToken, as: "desktop")
            world.clock.advance(by: .seconds(seconds))
            guard seconds < window else {
                await #expect(throws: OAuthError(.invalidGrant, "")) {
                    _ = try await world.refresh(first.refreshToken, as: "desktop")
                }
                continue
            }
            #expect(
                try await world.refresh(first.refreshToken, as: "desktop").refreshToken == third.refreshToken)
        }
    }

    @Test(arguments: [60, 3600, 86_400])
    func `reuse of an old token ends the family (refresh token theft)`(seconds: Int64) async throws {
        let first = try await desktop(world)
        var second = try await world.refresh(first.refreshToken, as: "desktop")
        if seconds < 86_400 { second = try await world.refresh(second.refreshToken, as: "desktop") }
        world.clock.advance(by: .seconds(seconds))
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await world.refresh(first.refreshToken, as: "desktop")
        }
        #expect(try await !world.isActive(second.accessToken))
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await world.refresh(second.refreshToken, as: "desktop")
        }
    }

    @Test func `Google's tokens are not rotated, and several are valid at once`() async throws {
        let account = try await world.user()
        let first = try await world.linked(account.id)
        let second = try await world.linked(account.id)
        for token in [first.refreshToken, second.refreshToken, first.refreshToken] {
            let fresh = try await world.refresh(token, as: "google")
            #expect(fresh.refreshToken == nil)
            #expect(try await world.isActive(fresh.accessToken))
        }
        #expect(try await world.store.grants(of: account.id).count == 1)
    }

    @Test func `the scope can be narrowed and not widened (scope escalation at refresh)`() async throws {
        let account = try await world.user()
        let code = try await world.code(for: account.id, scope: "openid email offline_access")
        let tokens = try await world.redeem(code)
        let narrow = try await world.refresh(tokens.refreshToken, scope: "email")
        #expect(narrow.scope == "email")
        #expect(try OAuthWorld.claims(narrow.accessToken)["scope"]?.string == "email")
        await #expect(throws: OAuthError(.invalidScope, "")) {
            _ = try await world.refresh(narrow.refreshToken, scope: "openid profile")
        }
        // The refresh token keeps all of its scope.
        #expect(try await world.refresh(narrow.refreshToken).scope == "openid email offline_access")
    }

    @Test func `a refresh token of another client is invalid_grant (cross-client use)`() async throws {
        let tokens = try await desktop(world)
        for client in ["shop", "google"] {
            await #expect(throws: OAuthError(.invalidGrant, "")) {
                _ = try await world.refresh(tokens.refreshToken, as: client)
            }
        }
        #expect(try await world.refresh(tokens.refreshToken, as: "desktop").refreshToken != nil)
    }

    @Test(arguments: ["", "x", "siwa_rt_", "siwa_rt_AAAA", "siwa_ac_AAAA"])
    func `what cannot be a refresh token never reaches the store`(text: String) {
        #expect(RefreshTokenText(parsing: text) == nil)
    }

    @Test func `a withdrawn consent ends tokens at once and for good`() async throws {
        let account = try await world.user()
        let tokens = try await world.linked(account.id)
        let status = try #require(try await world.store.status(of: account.id, app: world.app))
        #expect(status.isAuthorized)
        try await world.notify("consent-revoked")
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await world.refresh(tokens.refreshToken, as: "google")
        }
        #expect(try await !world.isActive(tokens.accessToken))
        // A withdrawn consent ends grants for good.
        world.clock.advance(by: .seconds(120))
        try await world.user { claims in
            for name in ["iat", "auth_time"] { claims[name] = .integer(TokenMint.sampleTime + 120) }
        }
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await world.refresh(tokens.refreshToken, as: "google")
        }
        #expect(try await world.store.grants(of: account.id).isEmpty)
    }
}
