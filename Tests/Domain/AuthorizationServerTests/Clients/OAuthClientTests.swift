import AppAttestation
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

    @Test func `a web client authenticates, is rotated, and gets a refresh token on request`() throws {
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
    { #expect(try client("shop").remainingScope(of: granted) == remaining) }

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
            ($0.clients[1].redirectURIs, $0.clients[1].allowsLocalhost) = (["http://localhost:9004/cb"], true)
        }
        let desktop = try #require(try OAuthSettings.sample(draft).clients["desktop"])
        #expect(desktop.redirectTarget(for: "http://localhost:51004/cb")?.form == .loopback)
        for uri in [
            "http://127.0.0.1:9004/cb", "http://LOCALHOST:9004/cb", "http://localhost.:9004/cb",
            "http://localhost.example.com/cb", "http://localhost@example.com/cb", "https://localhost:9004/cb",
            "http://app.localhost:9004/cb", "http://localhost:9004/",
        ] { #expect(desktop.redirectTarget(for: uri) == nil, "\(uri)") }
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

@Suite struct ClientLogoTests {
    private static func png(width: UInt32, height: UInt32) -> [UInt8] {
        let start: [UInt8] = [137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82]
        let sides = [width, height].flatMap { side in (0..<4).map { UInt8(side >> (24 - 8 * $0) & 255) } }
        return start + sides + Array(repeating: 0, count: 40)
    }

    @Test func `a PNG of a usual size is accepted`() {
        #expect(
            ClientLogo(Self.png(width: 512, height: 1024))?.dataURL.hasPrefix("data:image/png;base64,iVBOR")
                == true)
    }

    @Test(arguments: [(0, 1), (1025, 1), (1, 1025), (.max, .max)] as [(UInt32, UInt32)])
    func `a PNG that would fill the memory of a browser is refused`(width: UInt32, height: UInt32) {
        #expect(ClientLogo(Self.png(width: width, height: height)) == nil)
    }

    @Test(arguments: [
        "<svg/>",
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>\n",
        """
        <svg viewBox="0 0 24 24" xmlns="http://www.w3.org/2000/svg"><title>Shop</title><defs>
        <linearGradient id="a"><stop offset="0" stop-color="#f00"/></linearGradient></defs>
        <g fill="url(#a)"><path d="M0 0h24v24H0z"/><circle cx="1" cy="1" r="1"/></g></svg>
        """,
    ])
    func `an SVG of shapes and gradients is accepted`(text: String) {
        #expect(ClientLogo(Array(text.utf8))?.dataURL.hasPrefix("data:image/svg+xml;base64,") == true)
    }

    @Test(arguments: [
        "", "picture", "<html/>", "<svg", "<svg/>x", "<svg><script>alert(1)</script></svg>",
        "<svg onload=\"alert(1)\"/>", "<svg ONLOAD = 'alert(1)'/>", "<svg><path d=''\nonclick=x /></svg>",
        "<svg/onload=x>", "<svg><a href='x'/></svg>", "<svg><g xlink:href='x'/></svg>",
        "<svg><image src='https://evil.example/x'/></svg>", "<svg><use href='#a'/></svg>",
        "<svg><style>*{}</style></svg>", "<svg><g style='a:b'/></svg>", "<svg><foreignObject/></svg>",
        "<svg><g fill='url(https://evil.example/x)'/></svg>", "<svg><g fill='URL(x)'/></svg>",
        "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg/>", "<svg><!-- a --></svg>", "<svg><?php x?></svg>",
        "<svg><g fill='&#117;rl(x)'/></svg>", "<svg><g a='>'/></svg><script>", "<svg><text>a</text></svg>",
        "<?xml version='1.0'?><?xml-stylesheet href='x'?><svg/>", "<SVG/>", "<svg><svg:script/></svg>",
        "<svg><path:a/></svg>", "<svg><animate/></svg>",
        "<svg><path d=\">\" onload=\"alert(1)\"/></svg>", "<svg><path d='\">' onload='alert(1)'/></svg>",
    ])
    func `anything that could run, load or hide something is refused`(text: String) {
        #expect(ClientLogo(Array(text.utf8)) == nil)
    }

    @Test func `bytes that are no UTF-8, and more than 32 KiB, are refused`() {
        #expect(ClientLogo(Array("<svg>".utf8) + [0xFF] + Array("</svg>".utf8)) == nil)
        let long = "<svg>" + String(repeating: " ", count: ClientLogo.mostBytes) + "</svg>"
        #expect(ClientLogo(Array(long.utf8)) == nil)
    }
}

@Suite struct IssuerTests {
    @Test(arguments: [
        "https://accounts.example.com", "https://accounts.example.com:8443", "http://127.0.0.1:8080",
        "http://localhost:8080", "http://[::1]:8080", "https://siwa",
    ])
    func `is an origin, kept byte for byte`(text: String) throws {
        let issuer = try Issuer(text, isDevelopment: true)
        #expect(issuer.text == text)
        #expect(issuer.url("/oauth/token") == text + "/oauth/token")
    }

    @Test(arguments: [
        ("https://accounts.example.com", "accounts.example.com"),
        ("https://accounts.example.com:8443", "accounts.example.com"), ("http://[::1]:8080", "[::1]"),
        ("http://[::1]", "[::1]"), ("http://localhost:8080", "localhost"),
    ])
    func `has a host without a port`(text: String, host: String) throws {
        #expect(try Issuer(text, isDevelopment: true).host == host)
    }

    @Test(arguments: [
        "", "https://", "accounts.example.com", "https://accounts.example.com/",
        "https://accounts.example.com/siwa", "https://accounts.example.com?x",
        "https://accounts.example.com#x",
        "https://user@accounts.example.com", "HTTPS://accounts.example.com", "https://Accounts.example.com",
        "https://accounts.example.com:0", "https://accounts.example.com:", "https://b\u{FC}cher.example",
        "https://accounts.example.com ", "ftp://accounts.example.com", "https://[x]",
    ])
    func `is nothing else`(text: String) {
        #expect(throws: OAuthMistake(.issuerMalformed, at: "oauth.issuer")) {
            try Issuer(text, isDevelopment: true)
        }
    }

    @Test func `is https outside development`() {
        #expect(throws: OAuthMistake(.issuerNotSecure, at: "oauth.issuer")) {
            try Issuer("http://accounts.example.com", isDevelopment: false)
        }
    }
}

@Suite struct OAuthAppCheckTests {
    private func policy(_ change: (inout ClientDraft) -> Void) throws -> AppCheckPolicy? {
        let draft = OAuthDraft.sample { $0.clients = [.nativeSample(change)] }
        return try #require(try OAuthSettings.sample(draft).clients.clients.first).appCheck
    }

    @Test func `a client has the environment and the version of its bundle ID`() throws {
        let policy = try #require(try policy { $0.appCheck = "enforced" })
        #expect(policy.target == .oauthClient(id: ClientDraft.nativeSample().id))
        #expect(policy.appID.text == "A1B2C3D4E5.com.example.app")
        #expect(policy.mode == .enforced)
        #expect(policy.environment == .development)
        #expect(policy.firstAttestingVersion == AppVersion("4.2"))
    }

    @Test func `a client can have another first version`() throws {
        let policy = try #require(try policy { ($0.appCheck, $0.firstAttestingVersion) = ("monitored", "5") })
        #expect(policy.firstAttestingVersion == AppVersion("5"))
        #expect(policy.mode == .monitored)
    }

    @Test func `a client without App Check has no policy`() throws {
        #expect(try policy { $0.bundleID = "com.example.app" } == nil)
    }
}
