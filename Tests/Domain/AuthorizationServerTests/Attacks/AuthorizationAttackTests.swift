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
