import AppleEmulator
import JOSE
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@Suite(.apple()) struct ControlTests {
    let apple = EmulatorUnderTest.current

    @Test(arguments: [
        "[]", "{", "{}x", #"{"nonce":"a",}"#, #"{"nonce":"a","nonce":"b"}"#, "\u{FEFF}{}",
        String(repeating: #"{"claims":"#, count: 20) + "1" + String(repeating: "}", count: 20),
    ])
    func `refuses what is not one strict JSON object`(body: String) async throws {
        let response = try await apple.post("/emulator/identity-tokens", body)
        #expect(response.status == 400)
        #expect(response.code == "body_malformed")
    }

    @Test func `refuses U+0000 with a separate code, and treats null as absent`() async throws {
        let refused = try await apple.post("/emulator/identity-tokens", #"{"nonce":"\u0000"}"#)
        #expect(refused.status == 400)
        #expect(refused.code == "character_not_allowed")
        let minted = try await apple.post(
            "/emulator/identity-tokens", #"{"nonce":null,"client_id":null,"code":null,"claims":null}"#)
        #expect(minted.status == 201)
        #expect(try minted.json["nonce"] == nil)
        let key = try await apple.post(
            "/emulator/app-attest/keys", #"{"client_data":"AA==","challenge":null,"client_data_hash":null}"#)
        #expect(key.status == 201)
        let keyID = try #require(try key.json["key_id"]?.string)
        let assertion = try await apple.post(
            "/emulator/app-attest/assertions",
            #"{"key_id":"\#(keyID)","challenge":"c","vouch_for":"{}","client_data":null}"#)
        #expect(assertion.status == 201)
        let unknown = try await apple.post("/emulator/identity-tokens", #"{"nonse":null}"#)
        #expect(unknown.code == "member_unknown")
    }

    @Test(arguments: [
        #"{"nonce":7}"#, #"{"client_id":true}"#, #"{"code":1}"#, #"{"time_offset":"1"}"#,
        #"{"time_offset":1.0}"#,
        #"{"iat":-1}"#, #"{"iat":253402300800}"#, #"{"claims":[]}"#, #"{"remove_claims":["a",1]}"#,
        #"{"remove_claims":"a"}"#, #"{"alg":"ES256"}"#, #"{"signature":"good"}"#, #"{"include_user":"yes"}"#,
    ])
    func `refuses members of the wrong type`(body: String) async throws {
        let response = try await apple.post("/emulator/identity-tokens", body)
        #expect(response.status == 400)
        #expect(response.code == "member_malformed")
    }

    @Test(arguments: [
        "/emulator/identity-tokens", "/emulator/notifications", "/emulator/users", "/emulator/keys",
        "/emulator/keys/rotate", "/emulator/reset", "/emulator/users/default/delete-account",
    ])
    func `refuses members that it does not know, and does nothing`(path: String) async throws {
        let response = try await apple.post(path, #"{"nonse":"a"}"#)
        #expect(response.status == 400)
        #expect(response.code == "member_unknown")
        #expect(apple.emulator.state.counters == EmulatorCounters())
        #expect(apple.emulator.state.users.count == 1)
        #expect(try apple.emulator.state.user(nil).isDeleted == false)
        #expect(try await Set(apple.publishedKeyIDs()) == Set(TestKeys.keyIDs))
    }

    @Test func `refuses a body that is too large`() async throws {
        let body = #"{"claims":{"x":""# + String(repeating: "x", count: 64 * 1024) + #""}}"#
        let response = try await apple.post("/emulator/identity-tokens", body)
        #expect(response.status == 413)
        #expect(response.code == "body_too_large")
    }

    @Test func `accepts a request without a body`() async throws {
        #expect(try await apple.send(.POST, "/emulator/identity-tokens").status == 201)
    }

    @Test(arguments: ["?format=xml", "?format="])
    func `refuses an unknown response format`(query: String) async throws {
        let response = try await apple.get("/emulator/users\(query)")
        #expect(response.status == 400)
        #expect(response.code == "parameter_malformed")
    }

    @Test(arguments: ["?limit=0", "?limit=1001", "?limit=x", "?offset=-1", "?offset=99999999999999999999"])
    func `refuses invalid page limits`(query: String) async throws {
        #expect(try await apple.get("/emulator/users\(query)").code == "parameter_malformed")
    }

    @Test func `refuses calls from a web page`() async throws {
        let response = try await apple.send(
            .POST, "/emulator/identity-tokens", headers: ["Origin": "http://127.0.0.1:\(apple.port)"])
        #expect(response.status == 403)
        #expect(response.code == "browser_refused")
    }

    @Test(arguments: ["/nothing", "/auth/nothing", "/emulator/nothing"])
    func `answers unknown paths with a problem`(path: String) async throws {
        let response = try await apple.get(path)
        #expect(response.status == 404)
        #expect(response.code == "path_not_found")
        #expect(try response.json["status"] == 404)
    }

    @Test func `shows the configuration`() async throws {
        let overview = try await apple.get("/emulator").json
        #expect(overview["issuer"] == "https://appleid.apple.com")
        #expect(overview["apps"]?.array?[0]["team_id"] == .string(EmulatorUnderTest.teamID))
        #expect(overview["notification_url"] == nil)
    }

    @Test func `a reset restores what the operator configured, at the start and later`() async throws {
        let (start, since) = ("https://a.example.com/back", "https://b.example.com/back")
        let key = try ClientKey.generate(teamID: EmulatorUnderTest.teamID)
        try await EmulatorUnderTest.run {
            $0.apps[0].redirectURIs = [start]
        } _: { apple in
            let state = apple.emulator.state
            func expectStart(_ uris: [String], keys: [String], notifications url: String?) async throws {
                #expect(try await apple.post("/emulator/reset").status == 200)
                #expect(state.apps[0].redirectURIs == uris)
                #expect(state.clientKeys.map(\.keyID) == keys)
                #expect(state.notificationTarget?.url == url)
            }
            // Changes by control requests are gone.
            let body = #"{"redirect_uris":["http://localhost/x"]}"#
            _ = try await apple.send(.PUT, "/emulator/redirect-uris", body: body)
            _ = try await apple.post("/emulator/teams/\(EmulatorUnderTest.teamID)/client-keys")
            _ = try await apple.send(
                .DELETE, "/emulator/teams/\(EmulatorUnderTest.teamID)/client-keys/\(TestKeys.clientKeyID)")
            try await expectStart([start], keys: [TestKeys.clientKeyID], notifications: nil)
            // Changes by the operator stay.
            try state.configureRedirectURIs([since], of: "com.example.app.web")
            try state.configureClientKey(key)
            try state.configureClientKey(key)
            try state.setNotificationURL("http://127.0.0.1:1/in")
            try await expectStart(
                [since], keys: [TestKeys.clientKeyID, key.keyID], notifications: "http://127.0.0.1:1/in")
            try await expectStart(
                [since], keys: [TestKeys.clientKeyID, key.keyID], notifications: "http://127.0.0.1:1/in")
        }
    }

    @Test func `resets`() async throws {
        _ = try await apple.post("/emulator/users")
        _ = try await apple.mint()
        _ = try await apple.send(.PUT, "/emulator/faults/keys", body: #"{"status":500}"#)
        _ = try await apple.send(.DELETE, "/emulator/keys/\(TestKeys.keyIDs[0])")
        #expect(try await apple.post("/emulator/reset").status == 200)
        let state = apple.emulator.state
        #expect(state.counters == EmulatorCounters())
        #expect(state.users.count == 1)
        #expect(state.users[0].apps.isEmpty)
        #expect(try await Set(apple.publishedKeyIDs()) == Set(TestKeys.keyIDs))
    }
}

@Suite(.apple()) struct AccountChangeTests {
    let apple = EmulatorUnderTest.current
    private var receiver: ReceivingServer { TestScope.current }

    @Test(
        .appleAndReceiver(),
        arguments: [
            ("revoke-consent", "consent-revoked"), ("delete-account", "account-deleted"),
            ("disable-email-forwarding", "email-disabled"), ("enable-email-forwarding", "email-enabled"),
        ])
    func `sends the notification that follows`(change: String, type: String) async throws {
        _ = try await apple.mint()
        let response = try await apple.post("/emulator/users/default/\(change)").json
        let sent = try #require(response["notifications"]?.array)
        #expect(sent.count == 1)
        #expect(sent[0]["type"] == .string(type))
        #expect(sent[0]["client_id"] == "com.example.app")
        #expect(sent[0]["delivery"]?["status"] == 200)
        let payload = try #require(sent[0]["payload"]?.string)
        #expect(receiver.bodies == [#"{"payload":"\#(payload)"}"#])
        let claims = try ReadToken(payload).claims
        let event = try JSONValue(parsing: Array(try #require(claims["events"]?.string).utf8))
        #expect(event["type"] == .string(type))
        #expect(event["sub"] == .string(apple.emulator.state.users[0].subject))
    }

    @Test func `stores the change of the user`() async throws {
        _ = try await apple.mint()
        #expect(try apple.emulator.state.user(nil).apps == ["com.example.app"])
        let off = try await apple.post("/emulator/users/default/disable-email-forwarding").json["user"]
        #expect(off?["email_forwarding"] == "disabled")
        let on = try await apple.post("/emulator/users/default/enable-email-forwarding").json["user"]
        #expect(on?["email_forwarding"] == "enabled")
        let stopped = try await apple.post("/emulator/users/default/revoke-consent").json["user"]
        #expect(stopped?["apps"] == .array([]))
        #expect(stopped?["is_deleted"] == false)
        let deleted = try await apple.post("/emulator/users/default/delete-account").json["user"]
        #expect(deleted?["is_deleted"] == true)
    }

    @Test func `notifies every app that the user uses about the deletion of the account`() async throws {
        let other = try EmulatedApp(teamID: "TEAM000002", clientIDs: ["org.example.other"])
        let sibling = try EmulatedApp(teamID: EmulatorUnderTest.teamID, clientIDs: ["com.example.second"])
        try await EmulatorUnderTest.run {
            $0.apps += [other, sibling]
        } _: { apple in
            _ = try await apple.mint(#"{"client_id":"com.example.app.web"}"#)
            _ = try await apple.mint(#"{"client_id":"org.example.other"}"#)
            let response = try await apple.post("/emulator/users/default/delete-account").json
            let sent = try #require(response["notifications"]?.array)
            #expect(sent.compactMap { $0["client_id"]?.string } == ["com.example.app", "org.example.other"])
            var subjects: [JSONValue?] = []
            for notification in sent {
                let claims = try ReadToken(try #require(notification["payload"]?.string)).claims
                subjects.append(
                    try JSONValue(parsing: Array(try #require(claims["events"]?.string).utf8))["sub"])
            }
            #expect(subjects == apple.emulator.state.users[0].identities.map { .string($0.subject) })
        }
    }

    @Test func `ends the consent for one app only`() async throws {
        let sibling = try EmulatedApp(teamID: EmulatorUnderTest.teamID, clientIDs: ["com.example.second"])
        try await EmulatorUnderTest.run {
            $0.apps.append(sibling)
        } _: { apple in
            _ = try await apple.mint()
            _ = try await apple.mint(#"{"client_id":"com.example.second"}"#)
            let members = #"{"client_id":"com.example.second"}"#
            let response = try await apple.post("/emulator/users/default/revoke-consent", members).json
            #expect(response["notifications"]?.array?.map { $0["client_id"] } == ["com.example.second"])
            #expect(response["user"]?["apps"] == .array(["com.example.app"]))
        }
    }

    @Test func `mints the notification for a change in process`() async throws {
        var sent: [MintedNotification] = []
        for change in AccountChange.allCases {
            sent.append(try await apple.emulator.state.change(change).notifications[0])
        }
        #expect(
            sent.map(\.type) == ["consent-revoked", "account-deleted", "email-disabled", "email-enabled"])
        for notification in sent {
            let events = try ReadToken(notification.payload).claims["events"]?.string ?? ""
            #expect(try JSONValue(parsing: Array(events.utf8))["type"] == .string(notification.type))
        }
    }

    @Test func `sends either spelling of a deletion, at another time`() async throws {
        let members = #"{"type":"account-delete","time_offset":-60,"events_form":"object"}"#
        let response = try await apple.post("/emulator/users/default/delete-account?format=text", members)
        let claims = try ReadToken(response.text).claims
        #expect(claims["events"]?["type"] == "account-delete")
        #expect(claims["events"]?["event_time"] == 1_699_999_940_000)
    }
}
