import AppleEmulator
import StrictJSON
import Testing

@Suite struct AccountChangeTests {
    @Test(arguments: [
        ("revoke-consent", "consent-revoked"), ("delete-account", "account-deleted"),
        ("disable-email-forwarding", "email-disabled"), ("enable-email-forwarding", "email-enabled"),
    ])
    func `sends the notification that follows`(change: String, type: String) async throws {
        try await ReceivingServer.run { receiver in
            try await EmulatorUnderTest.run {
                $0.notificationURL = receiver.url
            } _: { apple in
                _ = try await apple.mint()
                let response = try await apple.post("/emulator/users/default/\(change)").json
                let sent = try #require(response["notifications"]?.array)
                #expect(sent.count == 1)
                #expect(sent[0]["type"] == .string(type))
                #expect(sent[0]["client_id"] == .string("com.example.app"))
                #expect(sent[0]["delivery"]?["status"] == .integer(200))
                let payload = try #require(sent[0]["payload"]?.string)
                #expect(receiver.bodies == [#"{"payload":"\#(payload)"}"#])
                let claims = try ReadToken(payload).claims
                let event = try JSONValue(parsing: Array(try #require(claims["events"]?.string).utf8))
                #expect(event["type"] == .string(type))
                #expect(event["sub"] == .string(apple.emulator.state.users[0].subject))
            }
        }
    }

    @Test func `stores the change of the user`() async throws {
        try await EmulatorUnderTest.run { apple in
            _ = try await apple.mint()
            #expect(try apple.emulator.state.user(nil).apps == ["com.example.app"])
            let off = try await apple.post("/emulator/users/default/disable-email-forwarding").json["user"]
            #expect(off?["email_forwarding"] == .string("disabled"))
            let on = try await apple.post("/emulator/users/default/enable-email-forwarding").json["user"]
            #expect(on?["email_forwarding"] == .string("enabled"))
            let stopped = try await apple.post("/emulator/users/default/revoke-consent").json["user"]
            #expect(stopped?["apps"] == .array([]))
            #expect(stopped?["is_deleted"] == .bool(false))
            let deleted = try await apple.post("/emulator/users/default/delete-account").json["user"]
            #expect(deleted?["is_deleted"] == .bool(true))
        }
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
            #expect(
                response["notifications"]?.array?.map { $0["client_id"] } == [.string("com.example.second")])
            #expect(response["user"]?["apps"] == .array([.string("com.example.app")]))
        }
    }

    @Test func `mints the notification for a change in process`() async throws {
        try await EmulatorUnderTest.run { apple in
            let sent = try AccountChange.allCases.map { try apple.emulator.state.change($0).notifications[0] }
            #expect(
                sent.map(\.type) == ["consent-revoked", "account-deleted", "email-disabled", "email-enabled"])
            for notification in sent {
                let events = try ReadToken(notification.payload).claims["events"]?.string ?? ""
                #expect(try JSONValue(parsing: Array(events.utf8))["type"] == .string(notification.type))
            }
        }
    }

    @Test func `sends either spelling of a deletion, at another time`() async throws {
        try await EmulatorUnderTest.run { apple in
            let members = #"{"type":"account-delete","time_offset":-60,"events_form":"object"}"#
            let response = try await apple.post("/emulator/users/default/delete-account?format=text", members)
            let claims = try ReadToken(response.text).claims
            #expect(claims["events"]?["type"] == .string("account-delete"))
            #expect(claims["events"]?["event_time"] == .integer(1_699_999_940_000))
        }
    }
}
