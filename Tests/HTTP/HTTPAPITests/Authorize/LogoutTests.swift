import AppleAccounts
import AuthorizationServer
import JOSE
import Logging
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import HTTPAPI
@testable import OAuth

/// The end of a browser's session, at the request of a client or of the user.
@Suite(
    .service(.oauth) { options in
        let back = "https://shop.example.com/signed-out"
        options.oauth = { draft in
            draft.clients[1].postLogoutRedirectURIs = [back, "\(back)?from=siwa"]
            draft.clients[2].postLogoutRedirectURIs = ["com.example.app:/signed-out"]
        }
    })
struct LogoutTests {
    private static let path = "/oauth/logout"
    private static let back = "https://shop.example.com/signed-out"
    private static let cookie = "__Host-siwa_session"

    let service = RunningService.current
    /// A browser of a user with a session.
    let visitor = AuthorizeVisitor(.current)
    let consent: ConsentView

    init() async throws { consent = try await visitor.consentPage(OAuthClients.shop) }

    /// An ID token of the service, an hour old and expired.
    static func idToken(
        _ service: RunningService, client: String = "shop", account: Account? = nil,
        issuer: String = "https://siwa.test", keys store: ReferenceStore? = nil
    ) async throws -> String {
        let keys = try keys(store ?? service.memory)
        let user = if let account { account } else { try #require(try await service.account()) }
        let now = RunningService.now / 1000
        let token = IDToken(
            issuer: issuer, clientID: try #require(OAuthClientID(client)), account: user, scope: "openid",
            nonce: nil, accessToken: "t", issuedAt: now - 7200, expiresAt: now - 3600,
            authenticatedAt: now - 7200)
        return try token.signed(with: try await keys.signingKey(.RS256))
    }

    private static func keys(_ store: ReferenceStore) throws -> SigningKeys {
        SigningKeys(
            store: store, sealingKeys: try RunningService.ring(), algorithms: [.RS256],
            schedule: SigningKeySchedule(longestToken: 3_600_000),
            now: { Moment(milliseconds: RunningService.now) }, logger: .silent)
    }

    private static func query(_ parameters: [(String, String?)]) -> String {
        parameters.compactMap { name, value in value.map { "\(name)=\(WebVisitor.encode($0))" } }
            .joined(separator: "&")
    }

    private static func isSignedIn(_ visitor: AuthorizeVisitor) async throws -> Bool {
        try await visitor.authorize(OAuthClients.shop).status == 200
    }

    private static func form(_ page: ProbeResponse) throws -> (action: String, token: String) {
        let match = try #require(
            page.text.firstMatch(
                of:
                    #/method="post" action="([^"]*)">\s<input type="hidden" name="csrf_token" value="([^"]*)"/#
            ))
        return (match.1.htmlUnescaped, String(match.2))
    }

    @Test func `with an ID token of its user the session ends, and the browser goes back`() async throws {
        #expect(try await visitor.answer(consent, "agree").status == 303)
        let hint = try await Self.idToken(service)
        let query = Self.query([
            ("id_token_hint", hint), ("post_logout_redirect_uri", Self.back), ("client_id", "shop"),
        ])
        let answer = try await visitor.get("\(Self.path)?\(query)&state=a%2Bb+c%20")
        #expect(answer.status == 303)
        #expect(answer["location"] == "\(Self.back)?state=a%2Bb+c%20")
        #expect(answer["referrer-policy"] == "no-referrer")
        #expect(answer["set-cookie"]?.hasPrefix("\(Self.cookie)=; Max-Age=0; Path=/; HttpOnly") == true)
        #expect(visitor.cookies[Self.cookie] == nil)
        #expect(try await !Self.isSignedIn(visitor))
        // The grant stays.
        #expect(try await service.grants().count == 1)
        // Without a session nothing is asked, and the URI's own query stays.
        let again = try await visitor.get(
            "\(Self.path)?"
                + Self.query([
                    ("client_id", "shop"), ("post_logout_redirect_uri", "\(Self.back)?from=siwa"),
                    ("state", "x"),
                ]))
        #expect(again["location"] == "\(Self.back)?from=siwa&state=x")
        let metrics = try await service.get("/metrics")
        #expect(metrics.text.contains("siwa_oauth_logouts_total{client=\"shop\",outcome=\"returned\"} 2\n"))
        // No ID token reaches the log.
        #expect(!service.loggedText().contains(hint.prefix(40)))
    }

    @Test func `a copy of the cookie is of no use after the user has signed out`() async throws {
        let connections = "/account/connections?app=\(TokenMint.clientID)"
        #expect(try await visitor.answer(consent, "agree").status == 303)
        let list = try await visitor.get(connections)
        let removal = try #require(
            list.text.firstMatch(
                of: #/name="csrf_token" value="([^"]*)">\s<input type="hidden" name="grant" value="([^"]*)"/#)
        )
        let copy = visitor.cookies[Self.cookie]
        let hint = try await Self.idToken(service)
        _ = try await visitor.get("\(Self.path)?id_token_hint=\(hint)")
        visitor.setCookie(Self.cookie, copy)
        let redirect = try await visitor.authorize(OAuthClients.shop)
        #expect(redirect["location"]?.hasPrefix("https://appleid.apple.com/") == true)
        #expect(
            try await visitor.get(connections)["location"]?.hasPrefix("https://appleid.apple.com/")
                == true)
        visitor.setCookie(Self.cookie, copy)
        let answer = try await visitor.answer(consent, "agree")
        #expect(answer.status == 403 && answer.text.contains("login_required"))
        visitor.setCookie(Self.cookie, copy)
        let removed = try await visitor.post(
            connections, [("csrf_token", String(removal.1)), ("grant", String(removal.2))])
        #expect(removed.status == 403 && removed.text.contains("login_required"))
        visitor.setCookie(Self.cookie, copy)
        let none = try await visitor.authorize(OAuthClients.shop + "&prompt=none")
        #expect(AuthorizeFlowTests.parameters(none)["error"] == "login_required")
        // The user signs in again, and nothing of the old session is in the way.
        visitor.setCookie(Self.cookie, copy)
        let fresh = try await visitor.signIn(after: redirect, AuthorizeFlowTests.fresh)
        #expect(fresh.status == 303 && fresh["location"]?.hasPrefix(OAuthClients.shopURI) == true)
        #expect(try await service.grants().count == 1)
    }

    @Test func `signing out many times leaves one row for each session`() async throws {
        let copy = visitor.cookies[Self.cookie]
        let hint = try await Self.idToken(service)
        for _ in 1...50 {
            visitor.setCookie(Self.cookie, copy)
            _ = try await visitor.get("\(Self.path)?id_token_hint=\(hint)")
        }
        for text in [nil, "", "x", String(repeating: "A", count: 2049)] as [String?] {
            visitor.setCookie(Self.cookie, text)
            #expect(try await visitor.get("\(Self.path)?id_token_hint=\(hint)").status == 200)
        }
        let store = try service.memory
        // The row goes when the session would have ended.
        let end = Moment(milliseconds: RunningService.now + 86_400_000)
        _ = try await store.purgeTickets(expiredBefore: Moment(milliseconds: RunningService.now))
        let left = try await store.purgeTickets(expiredBefore: end)
        #expect(left <= 3)
    }

    enum Hint: CaseIterable, Sendable {
        case none, garbage, otherUser, otherIssuer, otherKeys, unknownClient, otherClientNamed, accessToken
        case noSignature
    }

    @Test(arguments: Hint.allCases)
    func `CSRF on logout: without an ID token of its user the session goes on, and the user is asked`(
        hint: Hint
    ) async throws {
        var client: String?
        let genuine = try await Self.idToken(service)
        var text: String?
        switch hint {
        case .none: break
        case .garbage: text = "e30.e30.e30"
        case .otherUser:
            let other = AuthorizeVisitor(service)
            let redirect = try await other.authorize(OAuthClients.shop)
            let subject = "001234.ffffffffffffffffffffffffffffffff.0123"
            _ = try await other.signIn(after: redirect) { claims in
                claims["sub"] = .string(subject)
                claims["email"] = "grace@example.com"
            }
            text = try await Self.idToken(service, account: service.account(subject))
        case .otherIssuer: text = try await Self.idToken(service, issuer: "https://other.example.com")
        case .otherKeys: text = try await Self.idToken(service, keys: ReferenceStore())
        case .unknownClient: text = try await Self.idToken(service, client: "gone")
        case .otherClientNamed:
            text = genuine
            client = "desktop"
        case .accessToken:
            let keys = try Self.keys(service.memory)
            let user = try #require(try await service.account()).id.rawValue
            let payload = #"{"iss":"https://siwa.test","aud":"shop","sub":"\#(user)"}"#
            text = try TypedJWS.sign(
                Array(payload.utf8), type: AccessToken.type, with: try await keys.signingKey(.RS256))
        case .noSignature: text = genuine.split(separator: ".").dropLast().joined(separator: ".") + ".AAAA"
        }
        let query = Self.query([
            ("id_token_hint", text), ("client_id", client), ("post_logout_redirect_uri", Self.back),
        ])
        for _ in 1...2 {
            let page = try await visitor.get("\(Self.path)?\(query)")
            #expect(page.status == 200 && page.text.contains("Sign out?"), "\(page.status)")
            #expect(page.text.contains("Signed in as"))
            #expect(page["set-cookie"] == nil)
            #expect(!page.text.contains("id_token_hint"))
        }
        #expect(try await Self.isSignedIn(visitor))
    }

    @Test func `the user decides on the page, and its form counts for its session and request alone`()
        async throws
    {
        let query = Self.query([
            ("client_id", "shop"), ("post_logout_redirect_uri", Self.back), ("state", "s"),
            ("ui_locales", "xx en"),
        ])
        let page = try await visitor.get("\(Self.path)?\(query)")
        let form = try Self.form(page)
        #expect(
            WebVisitor.parameters(of: form.action) == [
                "client_id": "shop", "post_logout_redirect_uri": Self.back, "state": "s",
                "ui_locales": "xx en",
            ])
        #expect(page.text.contains("<bdi>Example Shop</bdi> asks to sign you out"))
        let policy = try #require(page["content-security-policy"])
        #expect(policy.contains("form-action 'self' https://shop.example.com;"))
        #expect(policy.contains("frame-ancestors 'none'"))
        let other = AuthorizeVisitor(service)
        _ = try await other.consentPage(OAuthClients.shop)
        let foreign = try Self.form(try await other.get("\(Self.path)?\(query)"))
        for (action, token) in [
            (form.action, ""), (form.action, "x"), (form.action, consent.token),
            (form.action, foreign.token), (Self.path, form.token), ("\(form.action)&a=1", form.token),
        ] {
            let answer = try await visitor.post(action, [("csrf_token", token), ("decision", "sign_out")])
            #expect(answer.status == 403 && answer.text.contains("form_refused"), "\(action) \(token)")
        }
        let unsure = try await visitor.post(form.action, [("csrf_token", form.token), ("decision", "yes")])
        #expect(unsure.status == 403)
        let stays = try await visitor.post(form.action, [("csrf_token", form.token), ("decision", "stay")])
        #expect(stays.status == 200 && stays.text.contains("You are still signed in"))
        #expect(try await Self.isSignedIn(visitor))
        let leaves = try await visitor.post(
            form.action, [("csrf_token", form.token), ("decision", "sign_out")])
        #expect(leaves.status == 303 && leaves["location"] == "\(Self.back)?state=s")
        #expect(try await !Self.isSignedIn(visitor))
        // A second press, without a session.
        let again = try await visitor.post(
            form.action, [("csrf_token", form.token), ("decision", "sign_out")])
        #expect(again.status == 303)
        #expect(try await Self.isSignedIn(other))
    }

    @Test(arguments: [
        ("shop", "https://shop.example.com/signed-out/", "redirect_uri_mismatch"),
        ("shop", "https://shop.example.com/signed-out?x=1", "redirect_uri_mismatch"),
        ("shop", "https://SHOP.example.com/signed-out", "redirect_uri_mismatch"),
        ("shop", "https://shop.example.com:443/signed-out", "redirect_uri_mismatch"),
        ("shop", "https://shop.example.com@evil.example/signed-out", "redirect_uri_mismatch"),
        ("shop", "//evil.example/", "redirect_uri_mismatch"),
        ("shop", "javascript:alert(1)", "redirect_uri_mismatch"),
        ("shop", "https://shop.example.com/cb", "redirect_uri_mismatch"),
        ("shop", "com.example.app:/signed-out", "redirect_uri_mismatch"),
        ("google", "https://shop.example.com/signed-out", "redirect_uri_mismatch"),
        ("desktop", "https://shop.example.com/signed-out", "redirect_uri_mismatch"),
        ("unknown", "https://shop.example.com/signed-out", "invalid_client"),
        ("<script>", "https://shop.example.com/signed-out", "invalid_client"),
        (nil, "https://shop.example.com/signed-out", "client_missing"),
    ]) func `open redirect: after a sign-out only a registered URI of the client is the target`(
        client: String?, uri: String, code: String
    ) async throws {
        let query = Self.query([("client_id", client), ("post_logout_redirect_uri", uri), ("state", "s")])
        let page = try await visitor.get("\(Self.path)?\(query)")
        #expect(page.status == 200 && page["content-security-policy"]?.contains("'self';") == true)
        let form = try Self.form(page)
        let answer = try await visitor.post(
            form.action, [("csrf_token", form.token), ("decision", "sign_out")])
        #expect(answer.status == 200 && answer["location"] == nil)
        #expect(answer.text.contains("You are signed out"))
        #expect(!answer.text.contains("evil") && !answer.text.contains("<script"))
        #expect(!answer.text.contains("Development"))
        #expect(service.loggedText().contains("code=\(code)"))
        #expect(try await !Self.isSignedIn(visitor))
        var development = RunningService.Options(oauth: { _ in })
        (development.hasOAuth, development.publicURL) = (true, "http://127.0.0.1:8080")
        try await RunningService.with(development) { service in
            let query = Self.query([("client_id", client), ("post_logout_redirect_uri", uri)])
            let page = try await AuthorizeVisitor(service).get("\(Self.path)?\(query)")
            #expect(page.status == 200 && page.text.contains("Development: the browser does not return"))
        }
    }

    @Test(arguments: [
        "state=%0D%0ASet-Cookie:%20a=b", "state=%00", "state=%1B%5B2J", "state=%E2%80%AE",
        "state=%22%3E%3Cscript%3E",
    ])
    func `a state with control characters goes back as it came, and ends no field`(state: String) async throws
    {
        visitor.setCookie(Self.cookie, nil)
        let query = Self.query([("client_id", "shop"), ("post_logout_redirect_uri", Self.back)])
        let answer = try await visitor.get("\(Self.path)?\(query)&\(state)")
        expect(answer.fields, has: ["location": "\(Self.back)?\(state)", "set-cookie": nil])
    }

    @Test(arguments: [
        "state=a&state=b", "client_id=shop&client_id=shop", "id_token_hint=a&id_token_hint=b",
        "post_logout_redirect_uri=a&post_logout_redirect_uri=a", "client_id=%FF", "ui_locales=a&ui_locales=b",
        "state=" + String(repeating: "a", count: 4097), "client_id=" + String(repeating: "a", count: 129),
        "post_logout_redirect_uri=" + String(repeating: "a", count: 2049),
    ])
    func `parameter pollution at logout is refused, and changes nothing`(query: String) async throws {
        let page = try await visitor.get("\(Self.path)?\(query)")
        #expect(page.status == 400 && page.text.contains("invalid_request"))
        #expect(page["set-cookie"] == nil)
        #expect(try await Self.isSignedIn(visitor))
    }

    @Test func `a client's page may post the parameters`() async throws {
        let hint = try await Self.idToken(service)
        let parameters = [("id_token_hint", hint), ("post_logout_redirect_uri", Self.back)]
        // Browsers do not send the cookie with a form of another site, and do with the GET that follows.
        let session = visitor.cookies[Self.cookie]
        visitor.setCookie(Self.cookie, nil)
        let redirect = try await visitor.post(Self.path, parameters).expecting(303)
        visitor.setCookie(Self.cookie, session)
        #expect(try await visitor.get(try #require(redirect["location"]))["location"] == Self.back)
        #expect(try await !Self.isSignedIn(visitor))
        // Without parameters the user is asked.
        #expect(try await visitor.post(Self.path, []).status == 303)
        for (target, body, type) in [
            (Self.path, "{}", "application/json"),
            (Self.path, String(repeating: "a", count: 4097), "application/x-www-form-urlencoded"),
            ("\(Self.path)?client_id=shop", "state=a", "application/x-www-form-urlencoded"),
            // The form of the page with parameters of a client, which it has in its URL.
            (Self.path, "csrf_token=x&client_id=shop", "application/x-www-form-urlencoded"),
            (Self.path, "decision=sign_out&state=a", "application/x-www-form-urlencoded"),
        ] {
            #expect(try await visitor.post(target, text: body, type: type).status == 400, "\(body.prefix(9))")
        }
    }

    @Test func `a session of a revoked credential and a session that has expired end without a question`()
        async throws
    {
        service.clock.advance(by: .seconds(600))
        let page = try await visitor.get(Self.path)
        #expect(page.status == 200 && page.text.contains("You are signed out"))
        #expect(page["set-cookie"] == nil)
    }

    @Test(arguments: PageLanguage.allCases)
    func `the pages have every language, with the same values`(language: PageLanguage) async throws {
        func values(_ texts: LogoutTexts) -> [[String]] {
            Mirror(reflecting: texts).children.compactMap { $0.value as? String }
                .map { $0.matches(of: /\{\w+\}/).map { String($0.0) }.sorted() }
        }
        #expect(values(.of(language)) == values(.of(.english)))
        let page = try await visitor.get("\(Self.path)?client_id=shop&ui_locales=\(language.rawValue)")
        #expect(page["content-language"] == language.rawValue)
        let texts = LogoutTexts.of(language)
        #expect(page.text.contains("<h1>\(texts.title)</h1>") && page.text.contains(texts.signOut))
        let form = try Self.form(page)
        let stays = try await visitor.post(form.action, [("csrf_token", form.token), ("decision", "stay")])
        #expect(stays.text.contains("<h1>\(texts.stayed.title)</h1>"))
        let done = try await visitor.post(
            form.action, [("csrf_token", form.token), ("decision", "sign_out")])
        #expect(done.text.contains("<h1>\(texts.signedOut.title)</h1>"))
    }

    /// Browsers send no cookie with a form of another site, and would obey its deletion all the same.
    @Test(arguments: ["sign_out", "stay", "agree", "cancel"], [true, false])
    func `logout by another site: without a session nothing is set or cleared`(
        decision: String, hasToken: Bool
    ) async throws {
        let token = hasToken ? "&csrf_token=\(String(repeating: "A", count: 43))" : ""
        for path in [Self.path, "\(Self.path)?client_id=shop"] {
            for (origin, site) in [
                (nil, nil), ("null", "cross-site"), ("https://evil.example", nil), ("null", nil),
            ] as [(String?, String?)] {
                let answer = try await AuthorizeVisitor(service).post(
                    path, text: "decision=\(decision)\(token)", from: origin, site: site)
                #expect(answer["set-cookie"] == nil)
                let isForeign = origin == "https://evil.example" || site == "cross-site"
                if isForeign || !hasToken {
                    #expect(answer.status == 403 && answer.text.contains("form_refused"))
                }
            }
        }
        for query in ["", "?client_id=shop", "?post_logout_redirect_uri=\(WebVisitor.encode(Self.back))"] {
            let answer = try await AuthorizeVisitor(service).get(Self.path + query)
            #expect(answer.status == 200 && answer["set-cookie"] == nil)
        }
    }

    @Test(
        arguments: [
            ("https://evil.example", nil), ("https://siwa.test.evil.example", nil),
            ("http://siwa.test:81", nil),
            ("null", "cross-site"), ("null", "same-site"), (nil, "cross-site"),
            ("https://siwa.test", "same-site"),
        ] as [(String?, String?)])
    func `forms of users are refused alike when the browser names another sender, even with their token`(
        origin: String?, site: String?
    ) async throws {
        @Sendable func encode(_ form: [(String, String)]) -> String {
            form.map { "\($0.0)=\(WebVisitor.encode($0.1))" }.joined(separator: "&")
        }
        let page = try Self.form(try await visitor.get(Self.path))
        #expect(try await visitor.answer(consent, "agree").status == 303)
        let connections = "/account/connections?app=\(TokenMint.clientID)"
        let list = try await visitor.get(connections)
        let removal = try #require(
            list.text.firstMatch(
                of: #/name="csrf_token" value="([^"]*)">\s<input type="hidden" name="grant" value="([^"]*)"/#)
        )
        let removalForm = encode([("csrf_token", String(removal.1)), ("grant", String(removal.2))])
        let forms = [
            (page.action, encode([("csrf_token", page.token), ("decision", "sign_out")])),
            (consent.action, encode([("csrf_token", consent.token), ("decision", "agree")])),
            (connections, removalForm),
        ]
        for (action, text) in forms {
            let answer = try await visitor.post(action, text: text, from: origin, site: site)
            #expect(answer.status == 403 && answer.text.contains("form_refused"), "\(action)")
            #expect(answer["set-cookie"] == nil)
        }
        // The pages themselves, as browsers of today and of yesterday send them.
        for (origin, site) in [("null", "same-origin"), ("https://siwa.test", nil), (nil, nil)]
            as [(String?, String?)]
        {
            let answer = try await visitor.post(consent.action, text: forms[1].1, from: origin, site: site)
            #expect(answer.status == 303)
        }
        #expect(
            try await visitor.post(page.action, text: forms[0].1, from: "null", site: "same-origin")
                .text.contains("You are signed out"))
    }
}
