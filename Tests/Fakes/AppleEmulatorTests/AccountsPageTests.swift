import AppleEmulator
import NIOHTTP1
import StrictJSON
import Synchronization
import TestSupport
import Testing

@Suite(.apple()) struct AccountsPageTests {
    let apple = EmulatorUnderTest.current
    private var receiver: ReceivingServer { TestScope.current }

    private func press(
        _ apple: EmulatorUnderTest, _ action: String, token: String? = nil, _ more: [(String, String)] = []
    ) async throws -> ReceivedResponse {
        let page = try await apple.get("/")
        let token = try token ?? #require(page.field("token"))
        let subject = apple.emulator.state.users[0].subject
        return try await apple.postForm(
            "/accounts", [("token", token), ("sub", subject), ("action", action)] + more,
            followsRedirects: false)
    }

    @Test(.appleAndReceiver())
    func `its buttons change the account and notify the apps`() async throws {
        let token = try await apple.refreshToken()
        #expect(try await press(apple, "disable-email-forwarding").status == 303)
        #expect(try apple.emulator.state.user(nil).forwardsEmail == false)
        let page = try await apple.get("/").text
        #expect(page.contains("Turn on e-mail forwarding"))
        #expect(page.contains("Stop using com.example.app"))
        #expect(page.contains("email-disabled"))
        let stopped = try await press(apple, "revoke-consent", [("client_id", "com.example.app")])
        #expect(stopped.headers["location"] == ["/"])
        #expect(try await apple.refresh(token).error == "invalid_grant")
        #expect(try await press(apple, "delete-account").status == 303)
        #expect(try apple.emulator.state.user(nil).isDeleted)
        #expect(receiver.bodies.count == 3)
    }

    @Test(.apple { $0.notificationURL = "http://127.0.0.1:8080/v1/apple/notifications" })
    func `signs in on an iPhone, as the backend posts it`() async throws {
        let fields = [("client_id", "com.example.app"), ("nonce", "n-1")]
        let page = try await press(apple, "sign-in-on-iphone", fields)
        #expect(page.status == 200)
        #expect(page.text.contains("curl -sS http://127.0.0.1:8080/v1/sign-ins"))
        let body = try #require(
            page.text.split(separator: "--json &#39;").last?.split(separator: "&#39;").first)
        let json = try JSONValue(parsing: Array(body.replacing("&quot;", with: "\"").utf8))
        let token = try #require(json["identity_token"]?.string)
        #expect(token.split(separator: ".").count == 3)
        #expect(json["client_id"]?.string == "com.example.app")
        #expect(json["authorization_code"]?.string?.hasPrefix("c") == true)
        #expect(json["user"] != nil)
        #expect(page.text.contains("value=\"n-1\""))
        let again = try await press(apple, "sign-in-on-iphone", fields)
        #expect(again.text.contains("does not tell the name again"))
        #expect(try await press(apple, "sign-in-on-iphone", token: "other", fields).status == 400)
        let long = [("client_id", "com.example.app"), ("nonce", String(repeating: "n", count: 513))]
        #expect(try await press(apple, "sign-in-on-iphone", long).status == 400)
        #expect(try await press(apple, "sign-in-on-iphone").status == 400)
    }

    @Test func `sends a sign-in on an iPhone to the service, where a backend runs beside it`() async throws {
        let app = [("client_id", "com.example.app")]
        #expect(try await !press(apple, "sign-in-on-iphone", app).text.contains("Send to siwa"))
        #expect(try await press(apple, "send-to-siwa", [("sign_in", "{}")]).status == 400)

        let sent = Mutex<[JSONObject]>([])
        apple.emulator.state.appBackend.withLock {
            $0 = { signIn in
                sent.withLock { $0.append(signIn) }
                return AppBackendAnswer(
                    status: signIn["identity_token"] == nil ? 400 : 201, body: ["note": "<taken>"],
                    page: "http://127.0.0.1:1/console/people/acc_1")
            }
        }
        let page = try await press(apple, "sign-in-on-iphone", app)
        #expect(page.text.contains("Send to siwa"))
        let json = try #require(page.field("sign_in")).replacing("&quot;", with: "\"")
        let answer = try await press(apple, "send-to-siwa", [("sign_in", json)])
        #expect(answer.status == 200)
        #expect(answer.text.contains("siwa has taken the sign-in") && answer.text.contains("<b>201</b>"))
        #expect(answer.text.contains("&lt;taken&gt;") && answer.text.contains("/console/people/acc_1"))
        #expect(sent.withLock { $0.last?["client_id"]?.string } == "com.example.app")
        let refused = try await press(apple, "send-to-siwa", [("sign_in", "{}")])
        #expect(refused.text.contains("siwa has not taken the sign-in"))
        for sign_in in ["[]", "{", "x"] {
            #expect(try await press(apple, "send-to-siwa", [("sign_in", sign_in)]).status == 400)
        }
        #expect(try await press(apple, "send-to-siwa", token: "other", [("sign_in", json)]).status == 400)
        #expect(sent.withLock { $0.count } == 2)
    }

    @Test(arguments: ["/nothing", "/accounts", "/emulator/nothing", "/auth/nothing"])
    func `an unknown path is a page for a browser, and a problem for a program`(path: String) async throws {
        let page = try await apple.get(path, headers: ["Accept": "text/html,*/*;q=0.8"])
        #expect(page.status == 404)
        #expect(page.headers["content-type"] == ["text/html;charset=UTF-8"])
        #expect(page.text.contains("path_not_found") && page.text.contains("href=\"/\""))
        let problem = try await apple.get(path)
        #expect(problem.status == 404)
        #expect(problem.headers["content-type"] == ["application/problem+json"])
    }

    @Test(.appleAndReceiver())
    func `shows relay addresses, and time and user of each notification`() async throws {
        let response = try await apple.post(
            "/emulator/users", #"{"sub":"hiding","first_name":"Grace","hide_email":true}"#)
        #expect(response.status == 201)
        _ = try await apple.post("/emulator/identity-tokens", #"{"sub":"hiding"}"#)
        _ = try await apple.post("/emulator/users/hiding/revoke-consent", "{}")
        let page = try await apple.get("/").text
        let user = try apple.emulator.state.user("hiding")
        #expect(page.contains("Apps see <code>\(user.identities[0].relayAddress)</code>"))
        let delivery = try #require(apple.emulator.state.recentDeliveries.last)
        #expect(delivery.subject == user.subject)
        #expect(page.contains("<td>Grace Appleseed</td>"))
        #expect(page.contains(">Time</th>") && page.contains("Z</td>"))
    }

    @Test func `shows the newest first, on pages, and stays where a button was pressed`() async throws {
        for number in 2...45 {
            _ = try await apple.post(
                "/emulator/users", #"{"sub":"user-\#(number)","first_name":"Ada & Bob"}"#)
        }
        let first = try await apple.get("/").text
        #expect(first.contains("<code>user-45</code>") && first.contains("<code>user-26</code>"))
        #expect(!first.contains("<code>user-25</code>"))
        #expect(try await apple.get("/?from=20").text.contains("<code>user-25</code>"))
        let found = try await apple.get("/?find=ada+%26&from=40")
        #expect(found.text.contains("<code>user-2</code>"))
        #expect(found.text.contains("41 to 44 of 44"))
        #expect(found.text.contains(#"value="ada &amp;""#))
        #expect(try await apple.get("/?find=user-17").text.contains("<code>user-17</code>"))
        #expect(try await apple.get("/?find=nobody").text.contains("No account has this"))
        #expect(try await apple.get("/?from=x").status == 400)
        let fields = [
            ("token", found.field("token") ?? ""), ("sub", "user-2"), ("action", "delete-account"),
            ("find", "ada &"), ("from", "40"),
        ]
        let pressed = try await apple.postForm("/accounts", fields, followsRedirects: false)
        #expect(pressed.headers["location"] == ["/?find=ada%20%26&from=40"])
        #expect(try apple.emulator.state.user("user-2").isDeleted)
    }

    @Test func `changes the password without a notification`() async throws {
        let token = try await apple.refreshToken()
        #expect(try await press(apple, "change-password").status == 303)
        #expect(try await apple.refresh(token).error == "invalid_grant")
        #expect(try await apple.counter("notifications") == 0)
    }

    @Test func `refuses a form of another site`() async throws {
        #expect(try await press(apple, "delete-account", token: "invented").status == 400)
        #expect(try apple.emulator.state.user(nil).isDeleted == false)
        #expect(try await press(apple, "fly").status == 400)
    }

    @Test func `the site page shows the result and escapes it`() async throws {
        let page = try await apple.get("/site?code=abc%3Cscript%3E&state=s%22")
        #expect(page.status == 200)
        #expect(page.text.contains("<code>abc&lt;script&gt;</code>"))
        #expect(page.text.contains("<code>s&quot;</code>"))
        #expect(try await apple.get("/site").status == 200)
        #expect(try await apple.get("/site?code=a&code=b").status == 400)
    }

    @Test func `escapes the names of users`() async throws {
        _ = try await apple.post("/emulator/users", #"{"first_name":"<script>alert(1)</script>"}"#)
        let page = try await apple.get("/")
        #expect(page.text.contains("&lt;script&gt;"))
        #expect(!page.text.contains("<script>"))
        #expect(page.headers["content-security-policy"].first?.contains("default-src 'none'") == true)
    }
}
