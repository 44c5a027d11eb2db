import AppleEmulator
import EmulatorServer
import HTTPTypes
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@Suite(.apple { $0.notificationURL = "http://127.0.0.1:1/" }) struct OutboxTests {
    let apple = EmulatorUnderTest.current
    private var receiver: ReceivingServer { TestScope.current }

    @Test(.appleAndReceiver(answering: .serviceUnavailable, times: 3))
    func `retries with growing delays until the receiver accepts it`() async throws {
        _ = try await apple.mint()
        let first = try await apple.post("/emulator/users/default/revoke-consent?format=text")
        #expect(first.text == "503")
        try await eventually { receiver.bodies.count == 4 }
        try await eventually { apple.emulator.state.waitingNotifications.isEmpty }
        #expect(apple.clock.sleeps == [1000, 2000, 4000])
        #expect(Set(receiver.bodies).count == 1)
        let outbox = try await apple.get("/emulator/outbox").json
        let postedAt = outbox["recent"]?.array?.first?["posted_at"]?.string
        #expect(postedAt?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)
        #expect(outbox["recent"]?.array?.map { $0["outcome"] } == ["503", "503", "503", "200"])
        #expect(try await apple.counter("deliveries") == 4)
        #expect(try await apple.counter("deliveries_refused") == 3)
    }

    @Test func `stops retrying after the last attempt`() async throws {
        let deliveries = try await apple.emulator.carryOut(.deleteAccount)
        #expect(deliveries.map(\.outcome) == [.failed(.connectionFailed)])
        try await eventually { apple.clock.sleeps.count == DeliveryPlan.maximumAttempts - 1 }
        try await eventually { apple.emulator.state.waitingNotifications.isEmpty }
        #expect(apple.clock.sleeps.last == DeliveryPlan.longestRetryDistance)
        #expect(apple.emulator.state.counters.deliveries == DeliveryPlan.maximumAttempts)
    }

    @Test(.appleAndReceiver(answering: .unauthorized))
    func `posts once when retries are off`() async throws {
        _ = try await apple.send(.PUT, "/emulator/delivery-plan", body: #"{"retry":false}"#)
        _ = try await apple.post("/emulator/users/default/revoke-consent")
        #expect(apple.emulator.state.waitingNotifications.isEmpty)
        #expect(receiver.bodies.count == 1)
    }

    @Test(.appleAndReceiver())
    func `posts copies of one notification`() async throws {
        _ = try await apple.send(.PUT, "/emulator/delivery-plan", body: #"{"copies":3}"#)
        _ = try await apple.post("/emulator/users/default/revoke-consent")
        #expect(receiver.bodies.count == 3)
        #expect(Set(receiver.bodies).count == 1)
    }

    @Test(.appleAndReceiver(), arguments: [("in_order", [0, 1, 2]), ("reversed", [2, 1, 0])])
    func `holds notifications and posts them in another order`(order: String, expected: [Int]) async throws {
        _ = try await apple.mint()
        _ = try await apple.send(.PUT, "/emulator/delivery-plan", body: #"{"hold":true}"#)
        var payloads: [String] = []
        for change in ["disable-email-forwarding", "enable-email-forwarding", "revoke-consent"] {
            let response = try await apple.post("/emulator/users/default/\(change)").json
            let sent = try #require(response["notifications"]?.array?.first)
            #expect(sent["held"] == true)
            #expect(sent["delivery"] == nil)
            payloads.append(try #require(sent["payload"]?.string))
        }
        #expect(receiver.bodies.isEmpty)
        #expect(try await apple.get("/emulator/outbox?format=text").text == "3")
        let released = try await apple.post("/emulator/outbox/release?format=text", #"{"order":"\#(order)"}"#)
        #expect(released.text == "200\n200\n200")
        #expect(receiver.bodies == expected.map { #"{"payload":"\#(payloads[$0])"}"# })
        #expect(apple.emulator.state.waitingNotifications.isEmpty)
    }

    /// Without IDs of their own, the retry of before the reset would post the notification of after it.
    @Test(.appleAndReceiver(answering: .internalServerError, times: 2))
    func `a reset forgets a notification that waits for its retry, and gives its ID to no other`()
        async throws
    {
        apple.clock.holdSleeps()
        for path in ["users/default/revoke-consent", "reset", "users/default/revoke-consent"] {
            #expect(try await apple.post("/emulator/\(path)").status == 200)
        }
        try await eventually { apple.clock.sleeps.count == 2 }
        #expect(apple.emulator.state.waitingNotifications.map(\.id) == [2])
        apple.clock.wakeOldestSleeper()
        // The retry of before the reset ends in the meantime.
        for _ in 0..<10 { #expect(try await apple.get("/emulator/outbox?format=text").text == "1") }
        #expect(receiver.bodies.count == 2)
        apple.clock.wakeOldestSleeper()
        try await eventually { apple.emulator.state.waitingNotifications.isEmpty }
        #expect(receiver.bodies.count == 3 && receiver.bodies[1] == receiver.bodies[2])
    }

    @Test func `can drop waiting notifications`() async throws {
        _ = try await apple.send(.PUT, "/emulator/delivery-plan", body: #"{"hold":true}"#)
        _ = try await apple.post("/emulator/users/default/revoke-consent")
        #expect(try await apple.send(.DELETE, "/emulator/outbox").json["waiting"] == .array([]))
    }

    @Test(.appleAndReceiver())
    func `loses the response of a receiver that accepted it, or does not reach the receiver`() async throws {
        let path = "/emulator/faults/notifications"
        _ = try await apple.send(.PUT, path, body: #"{"cut":"before_work","times":1}"#)
        let first = try await apple.post("/emulator/users/default/revoke-consent?format=text")
        #expect(first.text == "connection_failed")
        try await eventually { receiver.bodies.count == 1 }
        try await eventually { apple.emulator.state.waitingNotifications.isEmpty }
        _ = try await apple.send(.PUT, path, body: #"{"cut":"before_answer","times":1,"delay_ms":70}"#)
        let second = try await apple.post("/emulator/users/default/delete-account?format=text")
        #expect(second.text == "answer_broken")
        try await eventually { receiver.bodies.count == 3 }
        #expect(receiver.bodies[1] == receiver.bodies[2])
        #expect(apple.clock.sleeps.contains(70))
        #expect(try await apple.counter("notifications_faults") == 2)
    }

    @Test(.apple(), arguments: [#"{"body":"html"}"#, #"{"status":500}"#])
    func `refuses faults of the receiver's response`(fault: String) async throws {
        let response = try await apple.send(.PUT, "/emulator/faults/notifications", body: fault)
        #expect(response.code == "member_malformed")
    }

    @Test(
        .apple(), arguments: [#"{"copies":0}"#, #"{"copies":11}"#, #"{"first_retry_ms":0}"#, #"{"hold":1}"#])
    func `refuses an invalid plan`(plan: String) async throws {
        #expect(try await apple.send(.PUT, "/emulator/delivery-plan", body: plan).code == "member_malformed")
        #expect(apple.emulator.state.deliveryPlan == DeliveryPlan())
    }

    @Test func `a full outbox drops its oldest notification`() async throws {
        var plan = DeliveryPlan()
        plan.holds = true
        try apple.emulator.state.setDeliveryPlan(plan)
        for _ in 0..<1001 { try await apple.emulator.carryOut(.disableForwarding) }
        #expect(apple.emulator.state.waitingNotifications.count == 1000)
        #expect(apple.emulator.state.waitingNotifications[0].id == 2)
    }
}

@Suite(.apple()) struct NotificationTests {
    let apple = EmulatorUnderTest.current

    @Test func `builds Apple's claims, with the event as a string`() async throws {
        let token = try await apple.notify("{}")
        #expect(try await apple.isValid(token))
        #expect(token.claims["iss"] == "https://appleid.apple.com")
        #expect(token.claims["aud"] == "com.example.app")
        #expect(token.claims["iat"] == .integer(apple.clock.seconds))
        #expect(token.claims["exp"] == .integer(apple.clock.seconds + 86_400))
        #expect(token.claims["jti"]?.string?.utf8.count == 22)
        let event = try JSONValue(parsing: Array(try #require(token.claims["events"]?.string).utf8))
        #expect(event["type"] == "consent-revoked")
        #expect(event["sub"] == .string(apple.emulator.state.users[0].subject))
        #expect(event["event_time"] == .integer(apple.clock.milliseconds))
        #expect(event.object?.members.count == 3)
        let (keyID, jti) = (token.header["kid"]?.string ?? "", token.claims["jti"]?.string ?? "")
        #expect(token.headerText == #"{"kid":"\#(keyID)","alg":"RS256"}"#)
        #expect(
            token.claimsText == """
                {"iss":"https://appleid.apple.com","aud":"com.example.app","exp":1700086400,\
                "iat":1700000000,"jti":"\(jti)","events":"{\\"type\\":\\"consent-revoked\\",\
                \\"sub\\":\\"\(apple.emulator.state.users[0].subject)\\",\
                \\"event_time\\":\(apple.clock.milliseconds)}"}
                """)
    }

    @Test(arguments: [
        "consent-revoked", "account-delete", "account-deleted", "email-enabled", "never-heard-of",
    ])
    func `sends any type`(type: String) async throws {
        let event = try await apple.notify(#"{"type":"\#(type)","events_form":"object"}"#).claims[
            "events"]
        #expect(event?["type"] == .string(type))
        #expect((event?["email"] != nil) == type.hasPrefix("email-"))
    }

    @Test func `events about the relay address contain it`() async throws {
        _ = try await apple.post("/emulator/users", #"{"sub":"person","hide_email":true}"#)
        let event = try await apple.notify(
            #"{"type":"email-disabled","sub":"person","events_form":"object"}"#
        ).claims["events"]
        let identity = try apple.emulator.state.user("person").identities[0]
        #expect(event?["email"] == .string(identity.relayAddress))
        #expect(event?["is_private_email"] == "true")
    }

    @Test func `writes events as an object or an array`() async throws {
        let object = try await apple.notify(#"{"events_form":"object"}"#).claims["events"]
        #expect(object?["type"] == "consent-revoked")
        let array = try await apple.notify(#"{"events_form":"array"}"#).claims["events"]?.array
        #expect(array?.map { $0["type"] } == ["consent-revoked"])
    }

    @Test(
        arguments: [
            (#"{"events_form":"object","event_time_unit":"s"}"#, 1_700_000_000),
            (#"{"events_form":"object","time_offset":-60}"#, 1_699_999_940_000),
            (#"{"events_form":"object","time_offset":-60,"event_time_unit":"s"}"#, 1_699_999_940),
            (#"{"events_form":"object","event_time":-5}"#, -5),
            (#"{"events_form":"object","event_time":9223372036854775807}"#, Int64.max),
        ] as [(String, Int64)])
    func `writes the requested event time`(members: String, time: Int64) async throws {
        #expect(try await apple.notify(members).claims["events"]?["event_time"] == .integer(time))
    }

    @Test func `changes the event and the claims`() async throws {
        let token = try await apple.notify(
            """
            {"events_form":"object","event":{"sub":7,"extra":true},"remove_event_members":["event_time"],
            "claims":{"jti":"again"},"remove_claims":["iat"]}
            """)
        #expect(token.claims["events"]?["sub"] == 7)
        #expect(token.claims["events"]?["extra"] == true)
        #expect(token.claims["events"]?["event_time"] == nil)
        #expect(token.claims["jti"] == "again")
        #expect(token.claims["iat"] == nil)
    }

    @Test(arguments: [
        #"{"remove_event_members":["email"]}"#, #"{"event_time":5,"event_time_unit":"s"}"#,
        #"{"event":{"type":"x"},"remove_event_members":["type"]}"#,
        #"{"claims":{"events":"x"},"event":{"type":"x"}}"#,
        #"{"remove_claims":["events"],"remove_event_members":["type"]}"#, #"{"remove_claims":["nonce"]}"#,
        #"{"url":"http://127.0.0.1:1/","deliver":false}"#,
    ])
    func `refuses a member without effect, and changes nothing`(members: String) async throws {
        _ = try await apple.mint()
        for path in ["/emulator/notifications", "/emulator/users/default/revoke-consent"] {
            let response = try await apple.post(path, members)
            #expect(response.status == 400)
            #expect(response.code == "member_ineffective")
        }
        #expect(try await apple.counter("notifications") == 0)
        #expect(apple.emulator.state.users[0].apps == ["com.example.app"])
    }

    @Test(arguments: [#"{"signature":"tampered"}"#, #"{"kid":"invented"}"#, #"{"alg":"HS256"}"#])
    func `forges notifications like identity tokens`(members: String) async throws {
        let token = try await apple.notify(members)
        #expect(try await apple.isValid(token) == false)
    }
}

@Suite struct NotificationTargetTests {
    @Test(arguments: [
        "http://127.0.0.1/", "http://127.8.9.1:8080/v1/apple/notifications", "https://localhost:1/a?b=c",
        "http://[::1]:8080/x", "http://[::1]/",
    ])
    func `accepts loopback`(url: String) throws {
        #expect(try NotificationTarget(url).url == url)
    }

    @Test func `adds the path that is missing`() throws {
        #expect(try NotificationTarget("http://localhost:8080").url == "http://localhost:8080/")
    }

    @Test func `accepts the hosts that the operator allowed`() throws {
        #expect(try NotificationTarget("http://siwa:8080/x", allowedHosts: ["siwa"]).host == "siwa")
        #expect(throws: EmulatorError(.notificationURLRefused)) {
            try NotificationTarget("http://siwa.example:8080/x", allowedHosts: ["siwa"])
        }
    }

    @Test(arguments: [
        "", "http://", "http:///x", "ftp://localhost/", "localhost:8080", "//localhost/", "HTTP://localhost/",
        "http://example.com/", "http://10.0.0.1/", "http://0.0.0.0/", "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        // Other forms of addresses, which resolvers interpret differently.
        "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://127.0.0.01/",
        "http://127.0.0.1./",
        "http://127.0.0.256/", "http://LOCALHOST/", "http://localhost./",
        // URLs that parsers split differently.
        "http://localhost@example.com/", "http://example.com#@localhost/", "http://localhost\\@example.com/",
        "http://localhost:80@example.com/", "http://localhost%2eexample.com/",
        "http://127.0.0.1.example.com/",
        "http://localhost?.example.com/", "http://localhost:/", "http://localhost:0/", "http://localhost:08/",
        "http://localhost:65536/", "http://localhost:1:2/", "http://[::1]x/", "http://[::1/",
        "http://localhost/a b",
        "http://localhost/\r\nHost: x", "http://localhost/ä", "http://löcalhost/",
    ])
    func `refuses everything else`(url: String) {
        #expect(throws: EmulatorError(.notificationURLRefused)) { try NotificationTarget(url) }
    }
}
