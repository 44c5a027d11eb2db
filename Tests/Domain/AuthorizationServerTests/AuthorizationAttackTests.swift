import AppleAccounts
import Encodings
import TestSupport
import Testing

@testable import AuthorizationServer
@testable import OAuthFixtures

/// Attacks on `/oauth/authorize` that parameters alone can carry out (RFC 9700 §4, RFC 6819 §4.2).
@Suite struct AuthorizationAttackTests {
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    private static let honest: [(String, String)] = [
        ("client_id", "shop"), ("redirect_uri", "https://shop.example.com/cb"), ("response_type", "code"),
        ("scope", "openid"), ("state", "xyz"), ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
    ]

    private func decide(_ parameters: [(String, String)]) throws -> AuthorizationDecision {
        let query = parameters.map { "\($0.0)=\(QueryText.encode($0.1))" }.joined(separator: "&")
        return AuthorizationRequestCheck(try FixtureConfiguration.settings()).check(
            query.utf8, as: .query, userAgent: nil)
    }

    private func with(_ name: String, _ value: String) -> [(String, String)] {
        Self.honest.filter { $0.0 != name } + [(name, value)]
    }

    @Test(arguments: ["code", "token", "id_token"])
    func `mix-up: every answer names the issuer`(responseType: String) throws {
        switch try decide(with("response_type", responseType)) {
        case .proceed(let request):
            #expect(request.response.location(code: "c").hasSuffix("&iss=https%3A%2F%2Faccounts.example.com"))
        case .redirect(let response, let error):
            #expect(response.location(error: error).hasSuffix("&iss=https%3A%2F%2Faccounts.example.com"))
        case .page: Issue.record("a page")
        }
    }

    @Test func `open redirect: nothing is sent to a URI that is not registered for the client`() throws {
        let settings = try FixtureConfiguration.settings()
        let check = AuthorizationRequestCheck(settings)
        var generator = SeededGenerator(seed: 9700)
        let registered = settings.clients.clients.flatMap(\.redirectURIs)
        let ids = settings.clients.clients.map(\.id.rawValue) + ["stranger", "", "SHOP", "shop "]
        for _ in 0..<3000 {
            let id = ids[Int.random(in: 0..<ids.count, using: &generator)]
            let uri = registered[Int.random(in: 0..<registered.count, using: &generator)]
            let tail = ["", "", "/", "?x", "@evil.example", ".evil.example", "%2F"]
            let text = uri.text + tail[Int.random(in: 0..<tail.count, using: &generator)]
            let query = "client_id=\(QueryText.encode(id))&redirect_uri=\(QueryText.encode(text))"
            let isOwn = settings.clients[id]?.redirectTarget(for: text) != nil
            let isFlip = settings.clients.appFlipTarget(for: text) != nil
            switch check.check(query.utf8, as: .query, userAgent: nil) {
            case .page: if isOwn || isFlip { Issue.record("a page for \(query)") }
            case .redirect(let response, _):
                if !(isOwn || isFlip) || response.target.text != text {
                    Issue.record("a redirect for \(query)")
                }
            case .proceed: Issue.record("no response type, and accepted: \(query)")
            }
        }
    }

    @Test(arguments: RedirectURITrick.all)
    func `URI tricks: none of them matches a registered URI`(trick: RedirectURITrick) throws {
        var tried = 0
        for client in try FixtureConfiguration.settings().clients.clients {
            for uri in client.redirectURIs {
                let changed = trick.change(uri.text)
                guard Array(changed.utf8) != Array(uri.text.utf8) else { continue }
                tried += 1
                let target = client.redirectTarget(for: changed)
                // A change can lead from one registered URI to another.
                let other = client.redirectURIs.contains { Array($0.text.utf8) == Array(changed.utf8) }
                #expect(target == nil || other, "\(changed.debugDescription)")
            }
        }
        #expect(tried > 0)
    }

    @Test(arguments: [
        "redirect_uri", "client_id", "response_type", "response_mode", "scope", "state", "nonce", "prompt",
        "max_age", "login_hint", "ui_locales", "user_locale", "code_challenge", "code_challenge_method",
    ])
    func `parameter pollution: of two values none is taken`(name: String) throws {
        switch try decide(Self.honest + [(name, "one"), (name, "two")]) {
        case .page(let error): #expect(error.error.code == .invalidRequest)
        case .redirect(let response, let error):
            #expect(error.code == .invalidRequest)
            #expect((response.state == nil) == (name == "state"))
        case .proceed: Issue.record("accepted")
        }
    }

    private static let markup = "\"><script>alert(1)</script>\r\nSet-Cookie: a=b\u{0}\u{2028}\u{E9}&x=y#f"

    @Test(arguments: RequestParameter.allCases)
    func `error text with markup: no part of a request comes into an answer`(parameter: RequestParameter)
        throws
    {
        for value in [Self.markup, "<b>", "a\nb", String(repeating: "<", count: 9000)] {
            switch try decide(with(parameter.rawValue, value) + [("prompt", "none login")]) {
            case .page(let error): #expect(isDescription(error.error.explanation))
            case .redirect(let response, let error):
                #expect(isDescription(error.explanation))
                let location = response.location(error: error)
                #expect(location.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
                #expect(!location.contains("<") && !error.explanation.contains("<"))
            case .proceed: Issue.record("accepted")
            }
        }
    }

    @Test(arguments: [
        [("code_challenge", ""), ("code_challenge_method", "")], [("code_challenge", "")],
        [("code_challenge_method", "plain")], [("code_challenge_method", "")],
        [("code_challenge_method", "none")],
        [("code_challenge", "x")],
    ])
    func `PKCE downgrade: a web client cannot do with less than S256`(changes: [(String, String)]) throws {
        let names = changes.map(\.0)
        let parameters = Self.honest.filter { !names.contains($0.0) } + changes
        guard case .redirect(_, let error) = try decide(parameters) else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == .invalidRequest)
    }
}

/// A change of a redirect URI that some comparison, parser or browser lets pass (RFC 9700 §4.1).
struct RedirectURITrick: Sendable, CustomTestStringConvertible {
    let name: String
    let change: @Sendable (String) -> String

    var testDescription: String { name }

    private init(_ name: String, _ change: @escaping @Sendable (String) -> String) {
        (self.name, self.change) = (name, change)
    }

    private init(_ name: String, _ old: String, _ new: String) {
        self.init(name) { $0.replacing(old, with: new) }
    }

    static let all = appended + ofPath + ofHost + ofScheme

    private static let appended = [
        RedirectURITrick("prefix: a longer path") { $0 + "/more" },
        RedirectURITrick("prefix: the last character is missing") { String($0.dropLast()) },
        RedirectURITrick("suffix: another text before it") { "https://evil.example/?" + $0 },
        RedirectURITrick("added query") { $0 + "?x=1" },
        RedirectURITrick("added parameter") { $0 + "&x=1" },
        RedirectURITrick("fragment") { $0 + "#x" },
        RedirectURITrick("empty fragment") { $0 + "#" },
        RedirectURITrick("trailing slash") { $0 + "/" },
        RedirectURITrick("trailing dot") { $0 + "." },
        RedirectURITrick("trailing escaped space") { $0 + "%20" },
        RedirectURITrick("trailing space") { $0 + " " },
        RedirectURITrick("leading space") { " " + $0 },
        RedirectURITrick("end of a C string") { $0 + "\u{0}" },
        RedirectURITrick("header field") { $0 + "\r\nX: y" },
        RedirectURITrick("all in capitals") { $0.uppercased() },
    ]

    private static let ofPath = [
        RedirectURITrick("encoded slash", "/cb", "%2Fcb"),
        RedirectURITrick("encoded dot", ".", "%2E"),
        RedirectURITrick("encoded letter", "/cb", "/%63b"),
        RedirectURITrick("backslash before the path", "/cb", "\\cb"),
        RedirectURITrick("dot segment", "/cb", "/./cb"),
        RedirectURITrick("two dots", "/cb", "/x/../cb"),
        RedirectURITrick("letter case of the path", "/cb", "/CB"),
        RedirectURITrick("slash of Unicode", "/cb", "\u{2215}cb"),
    ]

    private static let ofHost = [
        RedirectURITrick("userinfo before the host", "://", "://user@"),
        RedirectURITrick("userinfo that looks like the host", ".com", ".com@evil.example"),
        RedirectURITrick("suffix of the host", ".com", ".com.evil.example"),
        RedirectURITrick("letter case of the host", "example", "EXAMPLE"),
        RedirectURITrick("trailing dot of the host", ".com", ".com."),
        RedirectURITrick("default port spelled out", ".com", ".com:443"),
        RedirectURITrick("port on a host that is not loopback", ".com", ".com:8443"),
        RedirectURITrick("full stop of Unicode", ".", "\u{3002}"),
        RedirectURITrick("Unicode host", "e", "\u{435}"),
        RedirectURITrick("localhost", "127.0.0.1", "localhost"),
        RedirectURITrick("loopback in short", "127.0.0.1", "127.1"),
        RedirectURITrick("loopback as a number", "127.0.0.1", "2130706433"),
        RedirectURITrick("loopback as a name", "127.0.0.1", "127.0.0.1.evil.example"),
        RedirectURITrick("loopback as a user", "127.0.0.1", "127.0.0.1@evil.example"),
        RedirectURITrick("loopback of IPv4 in IPv6", "[::1]", "[::ffff:127.0.0.1]"),
        RedirectURITrick("loopback with a zone", "[::1]", "[::1%25lo]"),
    ]

    private static let ofScheme = [
        RedirectURITrick("http for https", "https", "http"),
        RedirectURITrick("https for http", "http://1", "https://1"),
        RedirectURITrick("three slashes", "://", ":///"),
        RedirectURITrick("backslashes for slashes", "://", ":\\\\"),
        RedirectURITrick("no scheme", "https:", ""),
        RedirectURITrick("two slashes after a custom scheme", ":/", "://"),
    ]
}

/// Attacks on `/oauth/token` that the request alone can carry out. Attacks with an earlier code or token are
/// played against the service.
@Suite struct TokenAttackTests {
    private func refusal(_ body: String, query: String? = nil) throws -> TokenEndpointError {
        let clients = try OAuthSettings.sample().clients
        return try #require(throws: TokenEndpointError.self) {
            try UnauthenticatedTokenRequest(
                body: body.utf8, contentType: "application/x-www-form-urlencoded", authorization: nil,
                query: query?.utf8
            ).authenticated(in: clients)
        }
    }

    @Test(arguments: [
        "client_id=shop&client_secret=shop-secret", "code=siwa_ac_x", "refresh_token=siwa_rt_x", "x=1",
    ])
    func `token in the query refused: nothing is read from a URL`(query: String) throws {
        let body = "grant_type=refresh_token&refresh_token=x&client_id=desktop"
        #expect(try refusal(body, query: query).error.code == .invalidRequest)
    }

    @Test(arguments: ["devices", "openid devices", "email admin", "OPENID"])
    func `scope escalation at refresh: only the client's own scopes can be asked for`(scope: String) throws {
        let body =
            "grant_type=refresh_token&refresh_token=x&client_id=desktop&scope=\(QueryText.encode(scope))"
        #expect(try refusal(body).error.code == .invalidScope)
    }

    @Test func `existence oracle: a wrong code, a wrong token and a wrong client say nothing more`() throws {
        let short = try refusal("grant_type=authorization_code&code=%FF&client_id=desktop")
        let long = try refusal(
            "grant_type=refresh_token&client_id=desktop&refresh_token=" + String(repeating: "x", count: 513))
        #expect(short.error.explanation == long.error.explanation)
        #expect(short.error.code == .invalidGrant && long.error.code == .invalidGrant)
    }

    @Test(arguments: RequestParameter.allCases)
    func `error text with markup: no part of a request comes into an answer`(parameter: RequestParameter)
        throws
    {
        let markup = QueryText.encode("\"><script>\r\n\u{E9}")
        let refusal = try refusal("\(parameter.rawValue)=\(markup)&client_id=desktop&grant_type=x")
        #expect(isDescription(refusal.error.explanation))
        #expect(!String(decoding: refusal.error.json, as: UTF8.self).contains("<"))
    }

    @Test func `a secret in a description: requests do not show what they have`() throws {
        let request = try UnauthenticatedTokenRequest(
            body: "grant_type=authorization_code&code=hush&client_id=shop&client_secret=shop-secret".utf8,
            contentType: "application/x-www-form-urlencoded", authorization: nil, query: String?.none?.utf8)
        let accepted = try request.authenticated(in: try OAuthSettings.sample().clients)
        var dumped = ""
        dump(request, to: &dumped)
        dump(accepted, to: &dumped)
        let said = "\(request)\(accepted)\(accepted.grant)\(String(reflecting: accepted))\(dumped)"
        #expect(!said.contains("hush") && !said.contains("shop-secret"))
    }
}
