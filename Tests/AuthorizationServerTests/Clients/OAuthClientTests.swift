import AuthorizationServer
import Testing

@Suite struct OAuthClientTests {
    private func client(_ id: String) throws -> OAuthClient {
        let settings = try OAuthSettings.sample()
        return try #require(settings.clients[id])
    }

    private func scopes(_ text: String) throws -> ScopeSet { try #require(ScopeSet(parsing: text)) }

    @Test func `Google authenticates, is not rotated, and needs no challenge`() throws {
        let google = try client("google")
        #expect(google.isConfidential && !google.requiresProofKey && !google.rotatesRefreshTokens)
        #expect(google.getsRefreshToken(with: try scopes("devices")))
        #expect(google.lifetimes == ClientLifetimes())
        #expect(google.hasAppFlip)
    }

    @Test func `a web client authenticates, is rotated, and gets a refresh token when it asks for one`()
        throws
    {
        let shop = try client("shop")
        #expect(shop.isConfidential && shop.requiresProofKey && shop.rotatesRefreshTokens)
        #expect(shop.getsRefreshToken(with: try scopes("openid offline_access")))
        #expect(!shop.getsRefreshToken(with: try scopes("openid")))
        #expect(shop.accessTokenAlgorithm == .es256 && shop.idTokenAlgorithm == .rs256)
        #expect(shop.lifetimes.code == 600 && shop.lifetimes.accessToken == 3600)
    }

    @Test func `a native client is public, is rotated, and always gets a refresh token`() throws {
        let desktop = try client("desktop")
        #expect(!desktop.isConfidential && desktop.requiresProofKey && desktop.rotatesRefreshTokens)
        #expect(desktop.getsRefreshToken(with: try scopes("openid")))
        #expect(!desktop.allowsPlainProofKeys)
    }

    @Test func `consent is remembered where no other app can be behind the redirect URI`() throws {
        let shop = try client("shop")
        let google = try client("google")
        let desktop = try client("desktop")
        let web = try #require(shop.redirectTarget(for: "https://shop.example.com/cb"))
        #expect(shop.remembersConsent(for: web))
        let linking = "https://oauth-redirect.googleusercontent.com/r/home-link-42"
        #expect(google.remembersConsent(for: try #require(google.redirectTarget(for: linking))))
        for uri in ["com.example.app:/oauth2redirect", "http://127.0.0.1:9004", "http://[::1]:9004/cb"] {
            #expect(!desktop.remembersConsent(for: try #require(desktop.redirectTarget(for: uri))))
        }
    }
}
