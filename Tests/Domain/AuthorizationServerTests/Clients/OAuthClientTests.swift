import AppleAccounts
import AuthorizationServer
import Testing

@Suite struct OAuthClientTests {
    private func client(_ id: String) throws -> OAuthClient {
        let settings = try OAuthSettings.sample()
        return try #require(settings.clients[id])
    }

    @Test func `Google authenticates, is not rotated, and needs no challenge`() throws {
        let google = try client("google")
        #expect(
            google.kind.isConfidential && google.proofKeyRule == .optional
                && !google.kind.rotatesRefreshTokens)
        #expect(!google.kind.needsOfflineAccess)
        #expect(
            google.lifetimes
                == ClientLifetimes(
                    code: 600, accessToken: 3600, refreshTokenIdle: nil, refreshTokenAbsolute: nil))
        #expect(google.hasAppFlip)
    }

    @Test func `a web client authenticates, is rotated, and gets a refresh token when it asks for one`()
        throws
    {
        let shop = try client("shop")
        #expect(shop.kind.isConfidential && shop.proofKeyRule == .required && shop.kind.rotatesRefreshTokens)
        #expect(shop.kind.needsOfflineAccess && shop.mayRefresh)
        #expect(shop.accessTokenAlgorithm == .es256 && shop.idTokenAlgorithm == .rs256)
        #expect(shop.lifetimes.code == 600 && shop.lifetimes.accessToken == 3600)
    }

    @Test func `a native client is public, is rotated, and always gets a refresh token`() throws {
        let desktop = try client("desktop")
        #expect(
            !desktop.kind.isConfidential && desktop.proofKeyRule == .required
                && desktop.kind.rotatesRefreshTokens)
        #expect(!desktop.kind.needsOfflineAccess && desktop.mayRefresh)
        #expect(!desktop.allowsPlainProofKeys)
    }

    @Test(arguments: [
        ("openid email", "openid email"), ("openid devices email", "openid email"), ("devices", nil),
        ("", nil),
    ])
    func `a scope that the client does not have any more is not given`(granted: String, remaining: String?)
        throws
    {
        #expect(try client("shop").remainingScope(of: granted) == remaining)
    }

    @Test func `consent is remembered for web clients only`() throws {
        #expect(try client("shop").kind.remembersConsent)
        // A stranger can begin a link at Google, and lead the user to its address.
        #expect(try !client("google").kind.remembersConsent)
        // Another app can be behind a custom scheme or a loopback port.
        #expect(try !client("desktop").kind.remembersConsent)
    }

    @Test(arguments: ["127.0.0.1", "[::1]", "localhost"])
    func `a web client with a loopback URI in development remembers consent`(host: String) throws {
        let draft = OAuthDraft.sample { $0.clients[0].redirectURIs = ["http://\(host):3000/cb"] }
        let settings = try OAuthSettings.sample(draft, isDevelopment: true)
        let shop = try #require(settings.clients["shop"])
        #expect(shop.redirectTarget(for: "http://\(host):3001/cb") != nil)
        #expect(shop.kind.remembersConsent)
    }

    @Test func `localhost is another address than 127.0.0.1`() throws {
        let draft = OAuthDraft.sample {
            $0.clients[1].redirectURIs = ["http://localhost:9004/cb"]
            $0.clients[1].allowsLocalhost = true
        }
        let desktop = try #require(try OAuthSettings.sample(draft).clients["desktop"])
        #expect(desktop.redirectTarget(for: "http://localhost:51004/cb")?.form == .loopback)
        for uri in [
            "http://127.0.0.1:9004/cb", "http://LOCALHOST:9004/cb", "http://localhost.:9004/cb",
            "http://localhost.example.com/cb", "http://localhost@example.com/cb", "https://localhost:9004/cb",
            "http://app.localhost:9004/cb", "http://localhost:9004/",
        ] {
            #expect(desktop.redirectTarget(for: uri) == nil, "\(uri)")
        }
    }

    @Test func `a web client that has registered a URI of Google's has no App Flip`() throws {
        let uri = "https://oauth-redirect.googleusercontent.com/a/com.google.OPA"
        let settings = try OAuthSettings.sample(.sample { $0.clients[0].redirectURIs = [uri] })
        var call = AppFlipRequestBody()
        (call.clientID, call.redirectURI, call.state, call.scope) = ("shop", uri, "s", "openid")
        (call.decision, call.identityToken) = ("granted", "e30.e30.e30")
        guard case .response(let response) = AppFlipCheck(settings).check(call, caller: .all) else {
            Issue.record("not refused")
            return
        }
        #expect(response.outcome == .invalidRequest)
    }
}
