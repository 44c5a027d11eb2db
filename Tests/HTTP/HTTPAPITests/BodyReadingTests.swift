import StrictJSON
import TestSupport
import Testing
import TokenMint

/// Optional members and accepted formats of request bodies.
@Suite struct BodyReadingTests {
    private static let verify = "/v1/identity-tokens/verify"
    private static let signIn = "/v1/sign-ins"

    @Test(arguments: ["nonce", "client_id", "authorization_code", "access_token"])
    func `a member that is null is absent`(name: String) async throws {
        try await RunningService.with { service in
            for target in [Self.verify, Self.signIn] {
                let response = try await service.call(
                    "POST", target, body: try Bodies.identityToken([(name, .null)]))
                #expect((200...201).contains(response.status))
            }
        }
    }

    @Test func `what a sign-in takes beside the token may be null too`() async throws {
        try await RunningService.with { service in
            let response = try await service.call(
                "POST", Self.signIn, body: try Bodies.identityToken([("user", .null), ("create", .null)]))
            #expect(response.status == 201)
            #expect(response.json?["account"]?["first_name"] == nil)
        }
    }

    @Test(arguments: [
        ("/v1/sign-ins", #"{"identity_token":null}"#, "identity_token"),
        ("/v1/credentials/query", #"{"client_id":null,"subs":["a"]}"#, "client_id"),
        ("/v1/credentials/query", #"{"client_id":"com.example.app","subs":null}"#, "subs"),
        ("/v1/apple/notifications", #"{"payload":null}"#, "payload"),
    ])
    func `a member that must be there is missing when it is null`(
        target: String, body: String, member: String
    ) async throws {
        try await RunningService.with { service in
            let response = try await service.call("POST", target, body: body)
            #expect(response.status == 400)
            #expect(response.code == "member_missing")
            #expect(response.json?["member"]?.string == member)
        }
    }

    @Test func `null excuses no unknown member, no second one, and nothing in a list`() async throws {
        try await RunningService.with { service in
            let unknown = try await service.call(
                "POST", Self.verify, body: try Bodies.identityToken([("nonse", .null)]))
            #expect(unknown.code == "member_unknown")
            let twice = try await service.call(
                "POST", Self.verify, body: #"{"nonce":null,"nonce":"n","identity_token":"a"}"#)
            #expect(twice.code == "body_not_json")
            let listed = try await service.call(
                "POST", "/v1/credentials/query", body: #"{"client_id":"com.example.app","subs":["a",null]}"#)
            #expect(listed.code == "member_malformed")
        }
    }

    @Test func `user is taken as the text of Apple's form`() async throws {
        let text = #"{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"ada@example.com"}"#
        try await RunningService.with { service in
            let response = try await service.call(
                "POST", Self.signIn, body: try Bodies.identityToken([("user", .string(text))]))
            #expect(response.status == 201)
            #expect(response.json?["account"]?["first_name"]?.string == "Ada")
            #expect(response.json?["account"]?["last_name"]?.string == "Lovelace")
        }
    }

    @Test func `an empty user is none`() async throws {
        try await RunningService.with { service in
            let response = try await service.call(
                "POST", Self.signIn, body: try Bodies.identityToken([("user", .string(""))]))
            #expect(response.status == 201)
            #expect(response.json?["dropped"] == nil)
        }
    }

    @Test func `a response names what was dropped of the token and of user`() async throws {
        let user = #"{"fullName":{"givenName":"Ada\nMaria","familyName":"LONG"},"email":"-"}"#
            .replacing("LONG", with: String(repeating: "x", count: 300))
        try await RunningService.with { service in
            let body = try Bodies.identityToken([("user", .string(user))]) {
                $0["real_user_status"] = .string("2")
            }
            let response = try await service.call("POST", Self.signIn, body: body)
            #expect(response.status == 201)
            let dropped = response.json?["dropped"]?.array?.compactMap(\.string)
            #expect(dropped == ["real_user_status", "user.name", "user.email"])
            let account = response.json?["account"]
            #expect(account?["first_name"]?.string == "Ada Maria")
            #expect(account?["last_name"]?.string?.count == 256)
            let verified = try await service.call(
                "POST", "/v1/identity-tokens/verify",
                body: try Bodies.identityToken { $0["email"] = .null })
            #expect(verified.status == 200)
            #expect(verified.json?["dropped"]?.array?.compactMap(\.string) == ["email"])
        }
    }

    @Test func `values that were dropped are counted by name, and logged once a minute for each name`()
        async throws
    {
        try await RunningService.with { service in
            @Sendable func send(to path: String, user: String = "") async throws {
                let body = try Bodies.identityToken([("user", .string(user))]) { $0["email"] = .null }
                #expect([200, 201].contains(try await service.call("POST", path, body: body).status))
            }
            try await send(to: Self.signIn)
            try await send(to: Self.signIn, user: #"{"email":"-"}"#)
            service.clock.advance(by: .seconds(60))
            try await send(to: Self.signIn)
            let text = try Bodies.identityToken { $0["email"] = .null }
            #expect(try await service.call("POST", ProblemContractTests.verify, body: text).status == 200)
            let metrics = try await service.call("GET", "/metrics").text
            for (name, count) in [("email", 4), ("user.email", 1), ("user.name", 0), ("org_id", 0)] {
                #expect(metrics.contains("siwa_dropped_values_total{name=\"\(name)\"} \(count)\n"), "\(name)")
            }
            let lines = service.loggedText().split(separator: "\n").filter {
                $0.contains(#"msg="values of sign-ins were dropped""#)
            }
            #expect(lines.allSatisfy { $0.contains("level=warning") })
            // The second of the first minute is told with the third.
            let told = [("email", 1), ("user.email", 1), ("email", 2)]
            #expect(lines.count == told.count, "\(lines)")
            for (line, (name, count)) in zip(lines, told) {
                #expect(line.contains(" name=\(name)") && line.contains(" count=\(count)"), "\(line)")
            }
        }
    }

    @Test(arguments: [
        "Ada", "null", "[]", #""{}""#, #"{"name":7}"#, #"{"name":{"firstName":"a","firstName":"b"}}"#,
        "{}{}",
        "{",
    ])
    func `a text that is not Apple's object is refused`(text: String) async throws {
        try await RunningService.with { service in
            let response = try await service.call(
                "POST", Self.signIn, body: try Bodies.identityToken([("user", .string(text))]))
            #expect(response.status == 400)
            #expect(response.code == "member_malformed")
            #expect(response.json?["member"]?.string == "user")
        }
    }

    @Test(arguments: [
        ("/v1/sign-ins", #"{"identity_token":"a\u0000"}"#),
        ("/v1/sign-ins", "{\"identity_token\":\"a\u{0}\"}"),
        ("/v1/sign-ins", #"{"identity_\u0000token":"a"}"#),
        ("/v1/sign-ins", #"{"identity_token":"a","user":{"name":{"firstName":"\u0000"}}}"#),
        ("/v1/sign-ins", #"{"identity_token":"a","user":"{\"email\":\"\\u0000\"}"}"#),
        ("/v1/credentials/query", #"{"client_id":"com.example.app","subs":["a","\u0000"]}"#),
        ("/v1/apple/notifications", #"{"payload":"\u0000"}"#),
        ("/v1/apple/notifications", #"{"ignored":["\u0000"],"payload":"a"}"#),
    ])
    func `a zero byte in a string has a code of its own`(target: String, body: String) async throws {
        try await RunningService.with { service in
            let response = try await service.call("POST", target, body: body)
            #expect(response.status == 400)
            #expect(response.code == "character_not_allowed")
        }
    }

    @Test(arguments: ["{\u{0}}", "\u{0}{}", "{}\u{0}", "{\"identity_token\":\"\u{1}\"}"])
    func `a zero byte outside a string, and another control character, is no JSON`(body: String) async throws
    {
        try await RunningService.with { service in
            let response = try await service.call("POST", Self.verify, body: body)
            #expect(response.code == "body_not_json")
        }
    }
}
