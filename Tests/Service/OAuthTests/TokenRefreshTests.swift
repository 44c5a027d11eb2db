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

@Suite struct TokenRefreshTests {
    private func desktop(_ world: OAuthWorld) async throws -> TokenResponse {
        let account = try await world.user()
        let code = try await world.code(
            for: account.id, client: "desktop", uri: OAuthSample.desktopURI, scope: "openid email")
        return try await world.redeem(code, as: "desktop", uri: OAuthSample.desktopURI)
    }

    @Test func `a native client gets a refresh token without offline_access, and it is rotated`() async throws
    {
        let world = try OAuthWorld()
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
        let world = try OAuthWorld()
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
        let world = try OAuthWorld()
        let account = try await world.user()
        let first = try await world.redeem(try await world.code(for: account.id))
        let without = try OAuthWorld(after: world) { $0.clients[0].scopes = ["openid", "email"] }
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            _ = try await without.refresh(first.refreshToken)
        }
        #expect(try await !without.isActive(try #require(first.refreshToken)))
        #expect(try await without.isActive(first.accessToken))
        world.clock.advance(by: .seconds(31))
        #expect(try await world.refresh(first.refreshToken).refreshToken != nil)
    }

    @Test func `a lost answer comes again for a day while its successor is unused`() async throws {
        let world = try OAuthWorld()
        let first = try await desktop(world)
        let lost = try await world.refresh(first.refreshToken, as: "desktop")
        world.clock.advance(by: .seconds(86_399))
        let second = try await world.refresh(first.refreshToken, as: "desktop")
        #expect(second.refreshToken == lost.refreshToken)
        #expect(second.accessToken != lost.accessToken)
        #expect(try await world.refresh(second.refreshToken, as: "desktop").refreshToken != nil)
    }

    @Test func `two threads of an app that refresh at once both keep their user signed in`() async throws {
        let world = try OAuthWorld()
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
                $0.refreshRetryWindow = all
                $0.clients[1].refreshRetryWindow = own
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
        let world = try OAuthWorld()
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
        let world = try OAuthWorld()
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
        let world = try OAuthWorld()
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
        #expect(
            try await world.refresh(narrow.refreshToken).scope == "openid email offline_access")
    }

    @Test func `a refresh token of another client is invalid_grant (cross-client use)`() async throws {
        let world = try OAuthWorld()
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
        let world = try OAuthWorld()
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
