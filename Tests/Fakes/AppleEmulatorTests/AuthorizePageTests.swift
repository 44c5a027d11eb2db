import AppleEmulator
import EmulatorServer
import NIOHTTP1
import Testing

/// The pages that stand for Apple's: accounts, consent, and the form that goes back to the app.
@Suite(.appleWithRedirectURIs) struct AuthorizePageTests {
    let apple = EmulatorUnderTest.current

    @Test func `offers the newest accounts first, on pages, and finds every one`() async throws {
        for number in 2...45 {
            let members = #"{"sub":"user-\#(number)","first_name":"No.\#(number)","last_name":"Doe"}"#
            _ = try await apple.post("/emulator/users", members)
        }
        let page = try await apple.openPage()
        let first = try await apple.press(page, [])
        #expect(first.choices == (26...45).reversed().map { "user-\($0)" })
        #expect(first.text.contains("1 to 20 of 45"))
        let second = try await apple.press(page, [("from", "20")])
        #expect(second.choices == (6...25).reversed().map { "user-\($0)" })
        let oldest = apple.emulator.state.users[0].subject
        for from in ["40", "4000", "9223372036854775807"] {
            let last = try await apple.press(page, [("from", from)])
            #expect(last.choices == ["user-5", "user-4", "user-3", "user-2", oldest])
            #expect(last.text.contains(#"name="from" value="20">Previous page"#))
            #expect(!last.text.contains(">Next page</button>"))
        }
        #expect(try await apple.press(page, [("find", "NO.7 doe")]).choices == ["user-7"])
        #expect(try await apple.press(page, [("find", "user-44")]).choices == ["user-44"])
        #expect(try await apple.press(page, [("find", "jane.appleseed@")]).choices == [oldest])
        // A short word is part of many a user ID.
        #expect(try await apple.press(page, [("find", "er-44")]).choices.isEmpty)
        let relay = try apple.emulator.state.user("user-9").identities[0].relayAddress
        #expect(try await apple.press(page, [("find", relay)]).choices == ["user-9"])
        let many = try await apple.press(page, [("find", "doe"), ("from", "20")])
        #expect(many.choices.count == 20)
        #expect(many.field("find") == "doe")
        #expect(try await apple.press(page, [("find", "nobody")]).choices.isEmpty)
        #expect(try await apple.press(page, [("from", "x")]).status == 400)
        let tooLong = String(repeating: "x", count: 321)
        #expect(try await apple.press(page, [("find", tooLong)]).status == 400)
        // A user that the search has found can sign in.
        #expect(try await apple.press(page, [("allow", "user-7")]).field("code") != nil)
    }

    @Test func `allows the app to redirect the browser to its own URL scheme`() async throws {
        // Browsers apply `form-action` to redirects after a form, and no list can contain all schemes.
        let page = try await apple.openPage()
        let response = try await apple.press(page, [("cancel", "1")])
        #expect(response.headers["content-security-policy"].first?.contains("form-action") == false)
        let changes = ["response_mode": "query", "response_type": "code", "scope": ""]
        let redirecting = try await apple.get(EmulatorUnderTest.authorizeQuery(changes))
        #expect(redirecting.headers["content-security-policy"].first?.contains("form-action") == false)
        // Pages whose forms are for the emulator allow no other target.
        let posting = try await apple.get(EmulatorUnderTest.authorizeQuery())
        #expect(posting.headers["content-security-policy"].first?.contains("form-action 'self'") == true)
    }

    @Test func `accepts the form of a page once, and for ten minutes`() async throws {
        let subject = apple.emulator.state.users[0].subject
        let page = try await apple.openPage()
        #expect(try await apple.press(page, [("allow", subject)]).status == 200)
        #expect(try await apple.press(page, [("allow", subject)]).status == 400)
        #expect(try await apple.press(page, [("cancel", "1")]).status == 400)
        let late = try await apple.openPage()
        apple.clock.advance(bySeconds: 601)
        #expect(try await apple.press(late, [("allow", subject)]).status == 400)
        #expect(try await apple.press("invented", [("allow", subject)]).status == 400)
    }

    @Test func `refuses users without an account`() async throws {
        let page = try await apple.openPage()
        #expect(try await apple.press(page, [("allow", "nobody")]).status == 400)
        _ = try await apple.post("/emulator/users/default/delete-account")
        let subject = apple.emulator.state.users[0].subject
        #expect(try await apple.press(page, [("choose", subject)]).status == 400)
        #expect(try await apple.press(page, [("allow", subject)]).status == 400)
        #expect(try await apple.get(EmulatorUnderTest.authorizeQuery()).text.contains(subject) == false)
    }

    @Test func `escapes all values, and allows no foreign scripts`() async throws {
        let attack = "\"><script>alert(1)</script>'&"
        let members = #"{"first_name":"\"><script>alert(1)</script>'&","email":"\"><script>@x"}"#
        _ = try await apple.post("/emulator/users", members)
        let changes = ["state": attack, "nonce": attack]
        let chooser = try await apple.get(EmulatorUnderTest.authorizeQuery(changes))
        let page = try #require(chooser.field("page"))
        let subject = try #require(apple.emulator.state.users.last).subject
        let consent = try await apple.press(page, [("choose", subject)])
        let response = try await apple.press(page, [("allow", subject)])
        for page in [chooser, consent, response] {
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
        #expect(response.field("state") == attack)
    }
}

/// Refused requests to the authorization endpoint, and the redirect URIs that an app may have.
@Suite struct AuthorizeRequestTests {
    private var apple: EmulatorUnderTest { .current }

    @Test(
        .appleWithRedirectURIs,
        arguments: [
            (["client_id": ""], "invalid_request"), (["client_id": "com.other.app"], "invalid_client"),
            // A bundle ID is for native apps.
            (["client_id": "com.example.app"], "invalid_client"), (["redirect_uri": ""], "invalid_request"),
            (["redirect_uri": "https://app.example.com/callback"], "invalid_request"),
            (["response_type": ""], "invalid_request"), (["response_type": "id_token"], "invalid_request"),
            (["response_type": "token"], "invalid_request"), (["response_mode": "web"], "invalid_request"),
            (["response_mode": ""], "invalid_request"), (["response_mode": "query"], "invalid_request"),
            (["response_mode": "query", "scope": ""], "invalid_request"),
            (["scope": "phone"], "invalid_scope"),
            (["state": String(repeating: "s", count: 8193)], "invalid_request"),
        ] as [([String: String], String)])
    func `refuses with an error page, and sends nothing to the app`(
        changes: [String: String], error: String
    ) async throws {
        let response = try await apple.get(EmulatorUnderTest.authorizeQuery(changes))
        #expect(response.status == 400)
        #expect(response.headers["content-type"] == ["text/html;charset=UTF-8"])
        #expect(response.text.contains("<code>\(error)</code>"))
        #expect(response.headers["location"].isEmpty)
        #expect(try await apple.counter("authorize_refusals") == 1)
    }

    @Test(.appleWithRedirectURIs)
    func `refuses a parameter that occurs twice`() async throws {
        let response = try await apple.get(EmulatorUnderTest.authorizeQuery() + "&state=other")
        #expect(response.status == 400)
    }

    @Test(
        .apple(),
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
        let body = #"{"redirect_uris":["\#(uri)"]}"#
        let response = try await apple.send(.PUT, "/emulator/redirect-uris", body: body)
        #expect(response.status == (isTaken ? 200 : 422))
        #expect(response.code == (isTaken ? nil : "redirect_uri_refused"))
        #expect(apple.emulator.state.apps[0].redirectURIs == (isTaken ? [uri] : []))
    }
}

/// A web page in a developer's browser cannot use an emulator on the same machine.
@Suite(.apple()) struct ForeignPageTests {
    let apple = EmulatorUnderTest.current

    @Test(arguments: [
        (HTTPMethod.GET, "/"), (.GET, "/auth/keys"), (.GET, "/emulator/users"), (.GET, "/nothing"),
        (.POST, "/emulator/users"), (.POST, "/accounts"), (.POST, "/auth/token"),
        (.DELETE, "/emulator/notification-url"),
    ])
    func `refuses a request with a foreign host name`(method: HTTPMethod, path: String) async throws {
        for host in ["attacker.example:\(apple.port)", "localhost.attacker.example", "192.0.2.1"] {
            let response = try await apple.send(method, path, headers: ["Host": host])
            #expect(response.status == 421)
            #expect(response.code == "host_refused")
        }
        #expect(apple.emulator.state.counters == EmulatorCounters())
        #expect(apple.emulator.state.users.count == 1)
    }

    @Test(
        .apple { $0.hostNames = ["apple.test", "192.0.2.7"] },
        arguments: ["localhost:8081", "127.0.0.9", "[::1]", "appleid.apple.com", "Apple.Test", "192.0.2.7:1"])
    func `accepts loopback names, Apple's names, its own address and configured names`(host: String)
        async throws
    { #expect(try await apple.send(.GET, "/auth/keys", headers: ["Host": host]).status == 200) }

    @Test(arguments: ["https://attacker.example", "null", "http://127.0.0.1:3000"])
    func `refuses any form from a page of another site`(origin: String) async throws {
        let token = try #require(try await apple.get("/").field("token"))
        let subject = apple.emulator.state.users[0].subject
        for path in ["/accounts", "/auth/authorize", "/auth/token", "/auth/revoke"] {
            let response = try await apple.postForm(
                path, [("token", token), ("sub", subject), ("action", "delete-account")],
                headers: ["Origin": origin], followsRedirects: false)
            #expect(response.status == 403)
            #expect(response.code == "origin_refused")
        }
        #expect(try apple.emulator.state.user(nil).isDeleted == false)
    }

    @Test func `accepts the forms of its own pages`() async throws {
        let token = try #require(try await apple.get("/").field("token"))
        let subject = apple.emulator.state.users[0].subject
        let response = try await apple.postForm(
            "/accounts", [("token", token), ("sub", subject), ("action", "delete-account")],
            headers: ["Origin": "http://127.0.0.1:\(apple.port)"], followsRedirects: false)
        #expect(response.status == 303)
        #expect(try apple.emulator.state.user(nil).isDeleted)
    }

    @Test(arguments: ["apple.test:8081", "http://apple.test", "*", ""])
    func `refuses an allowed host that is not a host name`(name: String) async throws {
        var configuration = try EmulatorConfiguration(teamID: "T", clientIDs: ["a"])
        configuration.hostNames = [name]
        await #expect(throws: EmulatorError(.configurationInvalid)) {
            try await EmulatedApple(configuration: configuration, clock: .system)
        }
    }
}
