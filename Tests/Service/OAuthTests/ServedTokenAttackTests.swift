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

/// Attacks of RFC 9700 and RFC 6819 that need an earlier code or token.
@Suite struct ServedTokenAttackTests {
    @Test func `code injection: a stolen code fails in the session of another proof key`() async throws {
        let world = try OAuthWorld()
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
        let world = try OAuthWorld()
        let account = try await world.user()
        let code = try await world.code(for: account.id)
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
        let world = try OAuthWorld()
        let account = try await world.user()
        let tokens = try await world.redeem(try await world.code(for: account.id))
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
        let error = await #expect(throws: (any Error).self) {
            _ = try await world.refresh(tokens.accessToken)
        }
        #expect(OAuthWorld.code(of: error) == .invalidGrant)
    }

    @Test func `refresh token as access token: an API can tell it by token_type`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        let tokens = try await world.redeem(try await world.code(for: account.id))
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
        let world = try OAuthWorld()
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
