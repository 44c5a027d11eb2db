import AppleEmulator
import NIOHTTP1
import Testing

/// The pages that stand for Apple's: accounts, consent, and the form that goes back to the app.
@Suite struct AuthorizePageTests {
    @Test func `offers the newest accounts first, on pages, and finds every one`() async throws {
        try await EmulatorUnderTest.runWithRedirectURIs { apple in
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
                #expect(last.text.contains(#"name="from" value="20">Newer"#))
                #expect(!last.text.contains(#">Older</button>"#) || last.text.contains("disabled>Older"))
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
            let response = try await apple.press(page, [("allow", "user-7")])
            #expect(response.field("code") != nil)
        }
    }

    @Test func `allows the app to redirect the browser to its own URL scheme`() async throws {
        try await EmulatorUnderTest.runWithRedirectURIs { apple in
            // Browsers apply `form-action` to redirects after a form, and no list can contain all schemes.
            let page = try await apple.openPage()
            let response = try await apple.press(page, [("cancel", "1")])
            #expect(response.headers["content-security-policy"].first?.contains("form-action") == false)
            let changes = ["response_mode": "query", "response_type": "code", "scope": ""]
            let redirecting = try await apple.get(EmulatorUnderTest.authorizeQuery(changes))
            #expect(redirecting.headers["content-security-policy"].first?.contains("form-action") == false)
            // Pages whose forms are for the emulator allow no other target.
            let posting = try await apple.get(EmulatorUnderTest.authorizeQuery())
            #expect(
                posting.headers["content-security-policy"].first?.contains("form-action 'self'") == true)
        }
    }

    @Test func `accepts the form of a page once, and for ten minutes`() async throws {
        try await EmulatorUnderTest.runWithRedirectURIs { apple in
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
    }

    @Test func `refuses users without an account`() async throws {
        try await EmulatorUnderTest.runWithRedirectURIs { apple in
            let page = try await apple.openPage()
            #expect(try await apple.press(page, [("allow", "nobody")]).status == 400)
            _ = try await apple.post("/emulator/users/default/delete-account")
            let subject = apple.emulator.state.users[0].subject
            #expect(try await apple.press(page, [("choose", subject)]).status == 400)
            #expect(try await apple.press(page, [("allow", subject)]).status == 400)
            #expect(try await apple.get(EmulatorUnderTest.authorizeQuery()).text.contains(subject) == false)
        }
    }

    @Test func `escapes all values, and allows no foreign scripts`() async throws {
        try await EmulatorUnderTest.runWithRedirectURIs { apple in
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
}
