import AppleEmulator
import Cryptography
import Encodings
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@Suite struct AuthorizeEndpointTests {
    static let redirectURI = "https://app.example.com/callback?from=apple"

    /// All parameters of a valid request; "" leaves a parameter out.
    static func query(_ changes: [String: String] = [:]) -> String {
        var all = [
            "client_id": "com.example.app.web", "redirect_uri": redirectURI, "response_type": "code id_token",
            "response_mode": "form_post", "scope": "name email", "state": "s-1", "nonce": "n-1",
        ]
        for (name, value) in changes { all[name] = value }
        return "/auth/authorize?"
            + all.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(EmulatorUnderTest.escape($0.value))" }.joined(separator: "&")
    }

    private func run(_ body: (EmulatorUnderTest) async throws -> Void) async throws {
        try await EmulatorUnderTest.run {
            $0.apps[0].redirectURIs = [Self.redirectURI, "http://localhost:3000/back"]
        } _: { apple in
            try await body(apple)
        }
    }

    /// Opens the page and returns the name that its forms send back.
    private func open(_ apple: EmulatorUnderTest, _ changes: [String: String] = [:]) async throws -> String {
        let answer = try await apple.get(Self.query(changes))
        #expect(answer.status == 200)
        return try #require(answer.field("page"))
    }

    private func press(
        _ apple: EmulatorUnderTest, _ page: String, _ fields: [(String, String)]
    ) async throws -> Answer {
        try await apple.postForm("/auth/authorize", [("page", page)] + fields, followsRedirects: false)
    }

    @Test func `gives a code, a token and the user, the first time`() async throws {
        try await run { apple in
            let page = try await open(apple)
            let subject = apple.emulator.state.users[0].subject
            let consent = try await press(apple, page, [("choose", subject)])
            #expect(consent.field("first_name") == "Jane")
            let answer = try await press(
                apple, page,
                [
                    ("allow", subject), ("first_name", "Jane \"J\""), ("last_name", "<b>&'"),
                    ("email_choice", "hide"),
                ])
            #expect(answer.status == 200)
            #expect(answer.text.contains(#"action="https://app.example.com/callback?from=apple""#))
            #expect(answer.field("state") == "s-1")
            let code = try #require(answer.field("code"))
            let token = try ReadToken(try #require(answer.field("id_token")))
            #expect(try await apple.isValid(token))
            #expect(token.claims["aud"] == .string("com.example.app.web"))
            #expect(token.claims["nonce"] == .string("n-1"))
            #expect(token.claims["c_hash"] == .string(Base64URL.encode(SHA256Digest.hash(code).prefix(16))))
            #expect(token.claims["is_private_email"] == .bool(true))
            #expect(token.claims["real_user_status"] == nil)
            let user = try JSONValue(parsing: Array(try #require(answer.field("user")).utf8))
            #expect(user["name"]?["firstName"] == .string("Jane \"J\""))
            #expect(user["name"]?["lastName"] == .string("<b>&'"))
            #expect(user["email"] == token.claims["email"])

            let exchanged = try await apple.exchange(
                code, ["client_id": "com.example.app.web", "redirect_uri": Self.redirectURI])
            #expect(exchanged.status == 200)
            let tokens = try exchanged.json
            let exchangedToken = try ReadToken(try #require(tokens["id_token"]?.string))
            #expect(exchangedToken.claims["real_user_status"] == nil)
            let refreshed = try await apple.refresh(
                try #require(tokens["refresh_token"]?.string), ["client_id": "com.example.app.web"]
            ).json
            let refreshedToken = try ReadToken(try #require(refreshed["id_token"]?.string))
            #expect(refreshedToken.claims["real_user_status"] == nil)
            let second = try await press(apple, open(apple), [("allow", subject)])
            #expect(second.field("code") != nil)
            #expect(second.field("user") == nil)
            #expect(try await apple.counter("authorizations") == 2)
        }
    }

    @Test func `does not ask a returning user what to share`() async throws {
        try await run { apple in
            _ = try await apple.mint()
            let subject = apple.emulator.state.users[0].subject
            let consent = try await press(apple, open(apple), [("choose", subject)])
            #expect(consent.field("first_name") == nil)
            #expect(consent.text.contains("email_choice") == false)
        }
    }

    @Test func `creates a new account`() async throws {
        try await run { apple in
            let page = try await open(apple)
            let consent = try await press(
                apple, page,
                [("create", "1"), ("first_name", "Ada"), ("last_name", ""), ("email", "ada@example.com")])
            let user = try #require(apple.emulator.state.users.last)
            #expect(user.firstName == "Ada" && user.lastName == nil && user.email == "ada@example.com")
            #expect(consent.text.contains(user.subject))
            let answer = try await press(apple, page, [("allow", user.subject)])
            let json = try JSONValue(parsing: Array(try #require(answer.field("user")).utf8))
            #expect(json["name"]?["firstName"] == .string("Ada"))
            #expect(json["email"] == .string("ada@example.com"))
        }
    }

    @Test func `treats a single client ID as a Services ID when redirect URIs are registered for it`()
        async throws
    {
        try await EmulatorUnderTest.run {
            if let app = try? EmulatedApp(teamID: "TEAM000001", clientIDs: ["com.example.site"]) {
                $0.apps = [app]
            }
        } _: { apple in
            let changes = ["client_id": "com.example.site"]
            let refused = try await apple.get(Self.query(changes))
            #expect(refused.text.contains("<code>invalid_client</code>"))
            let body = #"{"redirect_uris":["\#(Self.redirectURI)"]}"#
            _ = try await apple.send(.PUT, "/emulator/redirect-uris", body: body)
            let page = try await open(apple, changes)
            let answer = try await press(apple, page, [("allow", apple.emulator.state.users[0].subject)])
            let token = try ReadToken(try #require(answer.field("id_token")))
            #expect(token.claims["real_user_status"] == nil)
            // Its tokens do not change: they are those of a native app.
            #expect(try await apple.mint().claims["real_user_status"] == .integer(2))
        }
    }

    @Test func `generates an address for a new account without one`() async throws {
        try await run { apple in
            for number in 2...3 {
                let page = try await open(apple)
                #expect(try await apple.get(Self.query()).field("email") == nil)
                _ = try await press(
                    apple, page, [("create", "1"), ("first_name", "Ada"), ("last_name", "Lovelace")])
                let user = try #require(apple.emulator.state.users.last)
                #expect(
                    user.email == (number == 2 ? "ada.lovelace@example.com" : "ada.lovelace.3@example.com"))
            }
        }
    }

    @Test func `offers the newest accounts first, on pages, and finds every one`() async throws {
        try await run { apple in
            for number in 2...45 {
                let members = #"{"sub":"user-\#(number)","first_name":"No.\#(number)","last_name":"Doe"}"#
                _ = try await apple.post("/emulator/users", members)
            }
            let page = try await open(apple)
            let first = try await press(apple, page, [])
            #expect(first.choices == (26...45).reversed().map { "user-\($0)" })
            #expect(first.text.contains("1 to 20 of 45"))
            let second = try await press(apple, page, [("from", "20")])
            #expect(second.choices == (6...25).reversed().map { "user-\($0)" })
            let oldest = apple.emulator.state.users[0].subject
            for from in ["40", "4000", "9223372036854775807"] {
                let last = try await press(apple, page, [("from", from)])
                #expect(last.choices == ["user-5", "user-4", "user-3", "user-2", oldest])
                #expect(last.text.contains(#"name="from" value="20">Newer"#))
                #expect(!last.text.contains(#">Older</button>"#) || last.text.contains("disabled>Older"))
            }
            #expect(try await press(apple, page, [("find", "NO.7 doe")]).choices == ["user-7"])
            #expect(try await press(apple, page, [("find", "user-44")]).choices == ["user-44"])
            #expect(try await press(apple, page, [("find", "jane.appleseed@")]).choices == [oldest])
            // A short word is part of many a user ID.
            #expect(try await press(apple, page, [("find", "er-44")]).choices.isEmpty)
            let relay = try apple.emulator.state.user("user-9").identities[0].relayAddress
            #expect(try await press(apple, page, [("find", relay)]).choices == ["user-9"])
            let many = try await press(apple, page, [("find", "doe"), ("from", "20")])
            #expect(many.choices.count == 20)
            #expect(many.field("find") == "doe")
            #expect(try await press(apple, page, [("find", "nobody")]).choices.isEmpty)
            #expect(try await press(apple, page, [("from", "x")]).status == 400)
            let tooLong = String(repeating: "x", count: 321)
            #expect(try await press(apple, page, [("find", tooLong)]).status == 400)
            // A user that the search has found can sign in.
            let answer = try await press(apple, page, [("allow", "user-7")])
            #expect(answer.field("code") != nil)
        }
    }

    @Test func `allows the app to redirect the browser to its own URL scheme`() async throws {
        try await run { apple in
            // Browsers apply `form-action` to redirects after a form, and no list can contain all schemes.
            let page = try await open(apple)
            let answer = try await press(apple, page, [("cancel", "1")])
            #expect(answer.headers["content-security-policy"].first?.contains("form-action") == false)
            let changes = ["response_mode": "query", "response_type": "code", "scope": ""]
            let redirecting = try await apple.get(Self.query(changes))
            #expect(redirecting.headers["content-security-policy"].first?.contains("form-action") == false)
            // Pages whose forms are for the emulator allow no other target.
            let posting = try await apple.get(Self.query())
            #expect(
                posting.headers["content-security-policy"].first?.contains("form-action 'self'") == true)
        }
    }

    @Test(arguments: [
        ("name", true, false), ("email", false, true), ("", false, false), ("email name openid", true, true),
    ])
    func `returns only what the scope requests`(scope: String, name: Bool, email: Bool) async throws {
        try await run { apple in
            let page = try await open(apple, ["scope": scope])
            let answer = try await press(apple, page, [("allow", apple.emulator.state.users[0].subject)])
            let user = try answer.field("user").map { try JSONValue(parsing: Array($0.utf8)) }
            #expect((user?["name"] != nil) == name)
            #expect((user?["email"] != nil) == email)
            let token = try ReadToken(try #require(answer.field("id_token")))
            #expect((token.claims["email"] != nil) == email)
            let tokens = try await apple.exchange(
                try #require(answer.field("code")),
                ["client_id": "com.example.app.web", "redirect_uri": Self.redirectURI]
            ).json
            let exchanged = try ReadToken(try #require(tokens["id_token"]?.string))
            #expect((exchanged.claims["email"] != nil) == email)
        }
    }

    @Test func `tells the app that the user has cancelled`() async throws {
        try await run { apple in
            let answer = try await press(apple, open(apple), [("cancel", "1")])
            #expect(answer.field("error") == "user_cancelled_authorize")
            #expect(answer.field("state") == "s-1")
            #expect(answer.field("code") == nil)
            #expect(try await apple.counter("cancellations") == 1)
            #expect(apple.emulator.state.users[0].apps.isEmpty)
        }
    }

    @Test(arguments: [("query", "?", "code"), ("fragment", "#", "code id_token"), ("", "?", "code")])
    func `redirects in the other modes`(mode: String, separator: String, type: String) async throws {
        try await run { apple in
            let changes = [
                "response_mode": mode, "response_type": type, "scope": "", "state": "a&b=#c",
                "redirect_uri": "http://localhost:3000/back",
            ]
            let page = try await open(apple, changes)
            let answer = try await press(apple, page, [("allow", apple.emulator.state.users[0].subject)])
            #expect(answer.status == 303)
            let location = try #require(answer.headers["location"].first)
            #expect(location.hasPrefix("http://localhost:3000/back\(separator)code=c"))
            #expect(location.hasSuffix("&state=a%26b%3D%23c"))
            #expect(location.contains("id_token=") == type.contains("id_token"))
            let cancelled = try await press(apple, open(apple, changes), [("cancel", "1")])
            #expect(
                cancelled.headers["location"] == [
                    "http://localhost:3000/back\(separator)error=user_cancelled_authorize&state=a%26b%3D%23c"
                ])
        }
    }

    @Test(
        arguments: [
            (["client_id": ""], "invalid_request"), (["client_id": "com.other.app"], "invalid_client"),
            // A bundle ID is for native apps.
            (["client_id": "com.example.app"], "invalid_client"),
            (["redirect_uri": ""], "invalid_request"),
            (["redirect_uri": "https://app.example.com/callback"], "invalid_request"),
            (["response_type": ""], "invalid_request"), (["response_type": "id_token"], "invalid_request"),
            (["response_type": "token"], "invalid_request"), (["response_mode": "web"], "invalid_request"),
            (["response_mode": ""], "invalid_request"), (["response_mode": "query"], "invalid_request"),
            (["response_mode": "query", "scope": ""], "invalid_request"),
            (["scope": "phone"], "invalid_scope"),
            (["state": String(repeating: "s", count: 4097)], "invalid_request"),
        ] as [([String: String], String)])
    func `refuses with an error page, and sends nothing to the app`(
        changes: [String: String], error: String
    ) async throws {
        try await run { apple in
            let answer = try await apple.get(Self.query(changes))
            #expect(answer.status == 400)
            #expect(answer.headers["content-type"] == ["text/html;charset=UTF-8"])
            #expect(answer.text.contains("<code>\(error)</code>"))
            #expect(answer.headers["location"].isEmpty)
            #expect(try await apple.counter("authorize_refusals") == 1)
        }
    }

    @Test func `refuses a parameter that occurs twice`() async throws {
        try await run { apple in
            let answer = try await apple.get(Self.query() + "&state=other")
            #expect(answer.status == 400)
        }
    }

    @Test func `accepts the form of a page once, and for ten minutes`() async throws {
        try await run { apple in
            let subject = apple.emulator.state.users[0].subject
            let page = try await open(apple)
            #expect(try await press(apple, page, [("allow", subject)]).status == 200)
            #expect(try await press(apple, page, [("allow", subject)]).status == 400)
            #expect(try await press(apple, page, [("cancel", "1")]).status == 400)
            let late = try await open(apple)
            apple.clock.advance(bySeconds: 601)
            #expect(try await press(apple, late, [("allow", subject)]).status == 400)
            #expect(try await press(apple, "invented", [("allow", subject)]).status == 400)
        }
    }

    @Test func `refuses users without an account`() async throws {
        try await run { apple in
            let page = try await open(apple)
            #expect(try await press(apple, page, [("allow", "nobody")]).status == 400)
            _ = try await apple.post("/emulator/users/default/delete-account")
            let subject = apple.emulator.state.users[0].subject
            #expect(try await press(apple, page, [("choose", subject)]).status == 400)
            #expect(try await press(apple, page, [("allow", subject)]).status == 400)
            #expect(try await apple.get(Self.query()).text.contains(subject) == false)
        }
    }

    @Test func `escapes all values, and allows no foreign scripts`() async throws {
        try await run { apple in
            let attack = "\"><script>alert(1)</script>'&"
            let members = #"{"first_name":"\"><script>alert(1)</script>'&","email":"\"><script>@x"}"#
            _ = try await apple.post("/emulator/users", members)
            let changes = ["state": attack, "nonce": attack]
            let chooser = try await apple.get(Self.query(changes))
            let page = try #require(chooser.field("page"))
            let subject = try #require(apple.emulator.state.users.last).subject
            let consent = try await press(apple, page, [("choose", subject)])
            let answer = try await press(apple, page, [("allow", subject)])
            for page in [chooser, consent, answer] {
                #expect(!page.text.contains("<script>alert"))
                #expect(!page.text.contains("\"><script>@x"))
                let policy = try #require(page.headers["content-security-policy"].first)
                #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
                #expect(policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe"))
                #expect(page.headers["x-content-type-options"] == ["nosniff"])
                #expect(page.headers["cache-control"] == ["no-store"])
                #expect(!page.text.contains("http-equiv"))
            }
            #expect(answer.field("state") == attack)
        }
    }

    @Test func `applies a fault`() async throws {
        try await run { apple in
            let page = try await open(apple)
            let subject = apple.emulator.state.users[0].subject
            _ = try await apple.send(
                .PUT, "/emulator/faults/authorize", body: #"{"cut":"before_answer","times":1}"#)
            await #expect(throws: (any Error).self) { try await press(apple, page, [("allow", subject)]) }
            #expect(try await apple.counter("authorizations") == 1)
            #expect(try await apple.counter("authorize_faults") == 1)
            #expect(apple.emulator.state.users[0].apps == ["com.example.app"])
        }
    }

    @Test(
        arguments: [
            ("https://example.com/x?y=z", true), ("http://localhost:1/", true), ("http://127.0.0.1/", true),
            ("http://[::1]:8080/x", true), ("https://127.0.0.1/x", true), ("http://example.com/", false),
            ("https://192.0.2.1/", false), ("https://[2001:db8::1]/", false),
            ("https://example.com/#f", false),
            ("https://localhost@evil.example/", false), ("javascript:alert(1)", false), ("https:///x", false),
            ("https://exa mple.com/", false), ("http://localhost.evil.example/", false), ("", false),
        ])
    func `accepts redirect URIs that Apple accepts, and those on this machine`(uri: String, isTaken: Bool)
        async throws
    {
        try await EmulatorUnderTest.run { apple in
            let body = #"{"redirect_uris":["\#(uri)"]}"#
            let answer = try await apple.send(.PUT, "/emulator/redirect-uris", body: body)
            #expect(answer.status == (isTaken ? 200 : 422))
            #expect(answer.code == (isTaken ? nil : "redirect_uri_refused"))
            #expect(apple.emulator.state.apps[0].redirectURIs == (isTaken ? [uri] : []))
        }
    }
}

extension Answer {
    /// The accounts on the page, in its order.
    fileprivate var choices: [String] {
        text.split(separator: "name=\"choose\" value=\"").dropFirst().map { part in
            String(part.prefix { $0 != "\"" })
        }
    }

    /// The value of a field in a page's form, unescaped.
    func field(_ name: String) -> String? {
        guard let start = text.firstRange(of: "name=\"\(name)\""),
            let tag = text[start.upperBound...].firstIndex(of: ">")
        else {
            return nil
        }
        let rest = text[start.upperBound..<tag]
        guard let value = rest.firstRange(of: "value=\""),
            let end = rest[value.upperBound...].firstIndex(of: "\"")
        else {
            return nil
        }
        return rest[value.upperBound..<end].htmlUnescaped
    }
}
