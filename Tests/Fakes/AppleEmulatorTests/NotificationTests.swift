import AppleEmulator
import StrictJSON
import Testing

@Suite struct NotificationTests {
    @Test func `builds Apple's claims, with the event as a string`() async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.notify("{}")
            #expect(try await apple.isValid(token))
            #expect(token.claims["iss"] == .string("https://appleid.apple.com"))
            #expect(token.claims["aud"] == .string("com.example.app"))
            #expect(token.claims["iat"] == .integer(apple.clock.seconds))
            #expect(token.claims["exp"] == .integer(apple.clock.seconds + 86_400))
            #expect(token.claims["jti"]?.string?.utf8.count == 22)
            let event = try JSONValue(parsing: Array(try #require(token.claims["events"]?.string).utf8))
            #expect(event["type"] == .string("consent-revoked"))
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
    }

    @Test(arguments: [
        "consent-revoked", "account-delete", "account-deleted", "email-enabled", "never-heard-of",
    ])
    func `sends any type`(type: String) async throws {
        try await EmulatorUnderTest.run { apple in
            let event = try await apple.notify(#"{"type":"\#(type)","events_form":"object"}"#).claims[
                "events"]
            #expect(event?["type"] == .string(type))
            #expect((event?["email"] != nil) == type.hasPrefix("email-"))
        }
    }

    @Test func `events about the relay address contain it`() async throws {
        try await EmulatorUnderTest.run { apple in
            _ = try await apple.post("/emulator/users", #"{"sub":"person","hide_email":true}"#)
            let event = try await apple.notify(
                #"{"type":"email-disabled","sub":"person","events_form":"object"}"#
            ).claims["events"]
            let identity = try apple.emulator.state.user("person").identities[0]
            #expect(event?["email"] == .string(identity.relayAddress))
            #expect(event?["is_private_email"] == .string("true"))
        }
    }

    @Test func `writes events as an object or an array`() async throws {
        try await EmulatorUnderTest.run { apple in
            let object = try await apple.notify(#"{"events_form":"object"}"#).claims["events"]
            #expect(object?["type"] == .string("consent-revoked"))
            let array = try await apple.notify(#"{"events_form":"array"}"#).claims["events"]?.array
            #expect(array?.map { $0["type"] } == [.string("consent-revoked")])
        }
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
        try await EmulatorUnderTest.run { apple in
            let claims = try await apple.notify(members).claims
            #expect(claims["events"]?["event_time"] == .integer(time))
        }
    }

    @Test func `changes the event and the claims`() async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.notify(
                """
                {"events_form":"object","event":{"sub":7,"extra":true},"remove_event_members":["event_time"],
                "claims":{"jti":"again"},"remove_claims":["iat"]}
                """)
            #expect(token.claims["events"]?["sub"] == .integer(7))
            #expect(token.claims["events"]?["extra"] == .bool(true))
            #expect(token.claims["events"]?["event_time"] == nil)
            #expect(token.claims["jti"] == .string("again"))
            #expect(token.claims["iat"] == nil)
        }
    }

    @Test(arguments: [
        #"{"remove_event_members":["email"]}"#, #"{"event_time":5,"event_time_unit":"s"}"#,
        #"{"event":{"type":"x"},"remove_event_members":["type"]}"#,
        #"{"claims":{"events":"x"},"event":{"type":"x"}}"#,
        #"{"remove_claims":["events"],"remove_event_members":["type"]}"#, #"{"remove_claims":["nonce"]}"#,
        #"{"url":"http://127.0.0.1:1/","deliver":false}"#,
    ])
    func `refuses a member without effect, and changes nothing`(members: String) async throws {
        try await EmulatorUnderTest.run { apple in
            _ = try await apple.mint()
            for path in ["/emulator/notifications", "/emulator/users/default/revoke-consent"] {
                let response = try await apple.post(path, members)
                #expect(response.status == 400)
                #expect(response.code == "member_ineffective")
            }
            #expect(try await apple.counter("notifications") == 0)
            #expect(apple.emulator.state.users[0].apps == ["com.example.app"])
        }
    }

    @Test(arguments: [#"{"signature":"tampered"}"#, #"{"kid":"invented"}"#, #"{"alg":"HS256"}"#])
    func `forges notifications like identity tokens`(members: String) async throws {
        try await EmulatorUnderTest.run { apple in
            let token = try await apple.notify(members)
            #expect(try await apple.isValid(token) == false)
        }
    }
}
