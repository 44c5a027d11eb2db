import AppleEmulator
import Cryptography
import Encodings
import NIOHTTP1
import StrictJSON
import Testing

/// The responses of the authorization endpoint to the app.
@Suite(.appleWithRedirectURIs) struct AuthorizeEndpointTests {
    let apple = EmulatorUnderTest.current

    @Test func `gives a code, a token and the user, the first time`() async throws {
        let page = try await apple.openPage()
        let subject = apple.emulator.state.users[0].subject
        #expect(try await apple.press(page, [("choose", subject)]).field("first_name") == "Jane")
        let response = try await apple.press(
            page,
            [
                ("allow", subject), ("first_name", "Jane \"J\""), ("last_name", "<b>&'"),
                ("email_choice", "hide"),
            ])
        #expect(response.status == 200)
        #expect(response.text.contains(#"action="https://app.example.com/callback?from=apple""#))
        #expect(response.field("state") == "s-1")
        let code = try #require(response.field("code"))
        let token = try ReadToken(try #require(response.field("id_token")))
        #expect(try await apple.isValid(token))
        #expect(token.claims["aud"] == "com.example.app.web")
        #expect(token.claims["nonce"] == "n-1")
        #expect(token.claims["c_hash"] == .string(Base64URL.encode(SHA256Digest.hash(code).prefix(16))))
        #expect(token.claims["is_private_email"] == true)
        #expect(token.claims["real_user_status"] == nil)
        let user = try JSONValue(parsing: Array(try #require(response.field("user")).utf8))
        #expect(user["name"]?["firstName"] == "Jane \"J\"")
        #expect(user["name"]?["lastName"] == "<b>&'")
        #expect(user["email"] == token.claims["email"])

        let exchanged = try await apple.exchange(
            code, ["client_id": "com.example.app.web", "redirect_uri": EmulatorUnderTest.redirectURI])
        #expect(exchanged.status == 200)
        let tokens = try exchanged.json
        #expect(try ReadToken(try #require(tokens["id_token"]?.string)).claims["real_user_status"] == nil)
        let refreshed = try await apple.refresh(
            try #require(tokens["refresh_token"]?.string), ["client_id": "com.example.app.web"]
        ).json
        #expect(try ReadToken(try #require(refreshed["id_token"]?.string)).claims["real_user_status"] == nil)
        let second = try await apple.press(apple.openPage(), [("allow", subject)])
        #expect(second.field("code") != nil)
        #expect(second.field("user") == nil)
        #expect(try await apple.counter("authorizations") == 2)
    }

    @Test func `gives a state of 8192 bytes back and refuses a longer one`() async throws {
        let state = String(repeating: "s", count: 8192)
        let page = try await apple.openPage(["state": state])
        let subject = apple.emulator.state.users[0].subject
        #expect(try await apple.press(page, [("allow", subject)]).field("state") == state)
        let refused = try await apple.get(EmulatorUnderTest.authorizeQuery(["state": state + "s"]))
        #expect(refused.status == 400)
    }

    @Test func `does not ask a returning user what to share`() async throws {
        _ = try await apple.mint()
        let subject = apple.emulator.state.users[0].subject
        let consent = try await apple.press(apple.openPage(), [("choose", subject)])
        #expect(consent.field("first_name") == nil)
        #expect(consent.text.contains("email_choice") == false)
    }

    @Test func `creates a new account`() async throws {
        let page = try await apple.openPage()
        let consent = try await apple.press(
            page, [("create", "1"), ("first_name", "Ada"), ("last_name", ""), ("email", "ada@example.com")])
        let user = try #require(apple.emulator.state.users.last)
        #expect(user.firstName == "Ada" && user.lastName == nil && user.email == "ada@example.com")
        #expect(consent.text.contains(user.subject))
        let response = try await apple.press(page, [("allow", user.subject)])
        let json = try JSONValue(parsing: Array(try #require(response.field("user")).utf8))
        #expect(json["name"]?["firstName"] == "Ada")
        #expect(json["email"] == "ada@example.com")
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
            let refused = try await apple.get(EmulatorUnderTest.authorizeQuery(changes))
            #expect(refused.text.contains("<code>invalid_client</code>"))
            let body = #"{"redirect_uris":["\#(EmulatorUnderTest.redirectURI)"]}"#
            _ = try await apple.send(.PUT, "/emulator/redirect-uris", body: body)
            let page = try await apple.openPage(changes)
            let response = try await apple.press(page, [("allow", apple.emulator.state.users[0].subject)])
            #expect(try ReadToken(try #require(response.field("id_token"))).claims["real_user_status"] == nil)
            // Its tokens do not change: they are those of a native app.
            #expect(try await apple.mint().claims["real_user_status"] == 2)
        }
    }

    @Test func `generates an address for a new account without one`() async throws {
        for number in 2...3 {
            let page = try await apple.openPage()
            #expect(try await apple.get(EmulatorUnderTest.authorizeQuery()).field("email") == nil)
            _ = try await apple.press(
                page, [("create", "1"), ("first_name", "Ada"), ("last_name", "Lovelace")])
            let user = try #require(apple.emulator.state.users.last)
            #expect(user.email == (number == 2 ? "ada.lovelace@example.com" : "ada.lovelace.3@example.com"))
        }
    }

    @Test(arguments: [
        ("name", true, false), ("email", false, true), ("", false, false), ("email name openid", true, true),
    ])
    func `returns only what the scope requests`(scope: String, name: Bool, email: Bool) async throws {
        let page = try await apple.openPage(["scope": scope])
        let response = try await apple.press(page, [("allow", apple.emulator.state.users[0].subject)])
        let user = try response.field("user").map { try JSONValue(parsing: Array($0.utf8)) }
        #expect((user?["name"] != nil) == name)
        #expect((user?["email"] != nil) == email)
        let token = try ReadToken(try #require(response.field("id_token")))
        #expect((token.claims["email"] != nil) == email)
        let tokens = try await apple.exchange(
            try #require(response.field("code")),
            ["client_id": "com.example.app.web", "redirect_uri": EmulatorUnderTest.redirectURI]
        ).json
        let exchanged = try ReadToken(try #require(tokens["id_token"]?.string))
        #expect((exchanged.claims["email"] != nil) == email)
    }

    @Test func `tells the app that the user has cancelled`() async throws {
        let response = try await apple.press(apple.openPage(), [("cancel", "1")])
        #expect(response.field("error") == "user_cancelled_authorize")
        #expect(response.field("state") == "s-1")
        #expect(response.field("code") == nil)
        #expect(try await apple.counter("cancellations") == 1)
        #expect(apple.emulator.state.users[0].apps.isEmpty)
    }

    @Test(arguments: [("query", "?", "code"), ("fragment", "#", "code id_token"), ("", "?", "code")])
    func `redirects in the other modes`(mode: String, separator: String, type: String) async throws {
        let changes = [
            "response_mode": mode, "response_type": type, "scope": "", "state": "a&b=#c",
            "redirect_uri": "http://localhost:3000/back",
        ]
        let page = try await apple.openPage(changes)
        let response = try await apple.press(page, [("allow", apple.emulator.state.users[0].subject)])
        #expect(response.status == 303)
        let location = try #require(response.headers["location"].first)
        #expect(location.hasPrefix("http://localhost:3000/back\(separator)code=c"))
        #expect(location.hasSuffix("&state=a%26b%3D%23c"))
        #expect(location.contains("id_token=") == type.contains("id_token"))
        let cancelled = try await apple.press(apple.openPage(changes), [("cancel", "1")])
        #expect(
            cancelled.headers["location"] == [
                "http://localhost:3000/back\(separator)error=user_cancelled_authorize&state=a%26b%3D%23c"
            ])
    }

    @Test func `applies a fault`() async throws {
        let page = try await apple.openPage()
        let subject = apple.emulator.state.users[0].subject
        _ = try await apple.send(
            .PUT, "/emulator/faults/authorize", body: #"{"cut":"before_answer","times":1}"#)
        await #expect(throws: (any Error).self) { try await apple.press(page, [("allow", subject)]) }
        #expect(try await apple.counter("authorizations") == 1)
        #expect(try await apple.counter("authorize_faults") == 1)
        #expect(apple.emulator.state.users[0].apps == ["com.example.app"])
    }
}
