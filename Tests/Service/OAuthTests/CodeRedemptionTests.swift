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
    @Test func `a code gives an access token, a refresh token and an ID token`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        let tokens = try await world.redeem(try await world.code(for: account.id))
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
        let world = try OAuthWorld()
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
        let world = try OAuthWorld()
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
        let world = try OAuthWorld()
        let account = try await world.user()
        let code = try await world.code(for: account.id)
        let without = try OAuthWorld(after: world) { $0.clients[0].scopes = ["devices"] }
        await #expect(throws: OAuthError(.invalidGrant, "")) { _ = try await without.redeem(code) }
        world.clock.advance(by: .seconds(11))
        #expect(try await world.redeem(code).scope == "openid profile email offline_access")
    }

    @Test func `a code gives no refresh token when offline_access was taken from its client since`()
        async throws
    {
        let world = try OAuthWorld { $0.clients[0].scopes = ["openid", "email"] }
        let account = try await world.user()
        let tokens = try await world.redeem(try await world.code(for: account.id))
        #expect(tokens.scope == "openid email")
        #expect(tokens.refreshToken == nil)
        #expect(try await world.isActive(tokens.accessToken))
    }

    @Test func `an ID token has no claims of a scope that was taken from its client since`() async throws {
        let world = try OAuthWorld { $0.clients[0].scopes = ["openid"] }
        let account = try await world.user()
        let tokens = try await world.redeem(try await world.code(for: account.id))
        let identity = try OAuthWorld.claims(try #require(tokens.idToken))
        #expect(identity["sub"]?.string == account.id.rawValue)
        #expect(identity["email"] == nil && identity["name"] == nil)
    }

    @Test func `claims about the user follow the scope`() async throws {
        let world = try OAuthWorld()
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
        let world = try OAuthWorld()
        let account = try await world.user()
        let code = try await world.code(for: account.id)
        await #expect(throws: OAuthError(.invalidGrant, "")) {
            switch attack {
            case .`code for another client`:
                _ = try await world.redeem(code, as: "google")
            case .`another redirect URI`:
                _ = try await world.redeem(code, uri: OAuthSample.shopURI + "?a=b")
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
        let world = try OAuthWorld()
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
        let world = try OAuthWorld()
        let account = try await world.user()
        let code = try await world.code(for: account.id, challenge: nil)
        await #expect(throws: OAuthError(.invalidGrant, "")) { _ = try await world.redeem(code) }
    }

    @Test func `of twenty redemptions at once exactly one succeeds`() async throws {
        let world = try OAuthWorld()
        let account = try await world.user()
        let code = try await world.code(for: account.id)
        let successes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask { (try? await world.redeem(code)) != nil }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(successes == 1)
    }

    @Test func `a retry ends nothing, and a later reuse ends what the code gave (code replay)`() async throws
    {
        let world = try OAuthWorld()
        let account = try await world.user()
        let code = try await world.code(for: account.id)
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
        let world = try OAuthWorld()
        let account = try await world.user()
        let code = try await world.code(for: account.id)
        await #expect(throws: TokenEndpointError(.invalidTarget, "")) {
            _ = try await world.tokens([
                "grant_type": "authorization_code", "code": code, "redirect_uri": OAuthSample.shopURI,
                "code_verifier": OAuthWorld.verifier, "resource": "https://other.example.com",
            ])
        }
        #expect(try await world.redeem(code).refreshToken != nil)
    }
}
