import HTTPAPI
import HTTPEngine
import NIOCore
import StrictJSON
import TestSupport
import Testing

/// Requests with sizes and forms that a parser may silently accept, over real sockets.
@Suite struct RequestFramingTests {
    private var service: RunningService { .current }

    static func probe<Result: Sendable>(
        _ body: @Sendable (ProbeConnection) async throws -> Result
    ) async throws -> Result {
        try await RunningService.with { service in
            try await ProbeConnection.with(port: service.port) { try await body($0) }
        }
    }

    /// Sends as much as the server reads, and returns the response.
    static func answer(to beginning: String, then filler: String) async throws -> ProbeResponse {
        try await probe { connection in
            try await connection.send(beginning)
            let outbound = connection.outbound
            let sending = Task {
                for _ in 0..<(2 * 1024 * 1024 / filler.utf8.count) {
                    try await outbound.write(ByteBuffer(string: filler))
                }
            }
            defer { sending.cancel() }
            return try await connection.response()
        }
    }

    static let spaces = String(repeating: " ", count: 4096)
    static let letters = String(repeating: "x", count: 4096)

    @Test(arguments: [
        ("GET / HTTP/1.1\r\nHost: a\r\nX:", spaces), ("GET /livez", spaces), ("", "\r\n\r\n"),
        ("GET /livez HTTP/1.1\r\nHost: a\r\nX: ", letters), ("GET /", letters),
        ("GET / HTTP/1.1\r\nHost: a\r\n", "a:\r\n"),
    ])
    func `two megabytes of header are refused`(beginning: String, filler: String) async throws {
        let filler = filler.utf8.count < 100 ? String(repeating: filler, count: 1000) : filler
        let answer = try await Self.answer(to: beginning, then: filler)
        #expect(answer.status == 431 || answer.status == 400)
        #expect(answer["connection"] == "close")
    }

    @Test(arguments: ["1;", "1;x=\"", "a \t"])
    func `a chunk extension of two megabytes is refused`(beginning: String) async throws {
        let head = RunningService.request(
            "POST", "/v1/sign-ins",
            fields: ["Transfer-Encoding": "chunked", "Content-Type": "application/json"])
        let answer = try await Self.answer(to: head + beginning, then: Self.letters)
        #expect(answer.status == 413 || answer.status == 400)
        #expect(answer["connection"] == "close")
    }

    @Test func `many chunks with small extensions are refused when they are too much together`() async throws
    {
        let head = RunningService.request(
            "POST", "/v1/sign-ins",
            fields: ["Transfer-Encoding": "chunked", "Content-Type": "application/json"])
        let chunks = String(repeating: "1;\(String(repeating: "x", count: 250))\r\na\r\n", count: 16)
        #expect(try await Self.answer(to: head, then: chunks).outcome == "413 body_too_large")
    }

    @Test func `trailers are bounded as header fields are`() async throws {
        let head = RunningService.request(
            "POST", "/v1/sign-ins",
            fields: ["Transfer-Encoding": "chunked", "Content-Type": "application/json"])
        #expect(try await Self.answer(to: head + "0\r\n", then: "X: \(Self.letters)\r\n").status == 431)
    }

    @Test func `a small chunk extension and a trailer are let pass`() async throws {
        try await Self.probe { connection in
            let body = try Bodies.identityToken()
            let fields = ["Transfer-Encoding": "chunked", "Content-Type": "application/json"]
            try await connection.send(
                RunningService.request("POST", "/v1/identity-tokens/verify", fields: fields))
            var rest = Substring(body)
            while !rest.isEmpty {
                let piece = rest.prefix(20)
                try await connection.send("\(String(piece.utf8.count, radix: 16));x=y\r\n\(piece)\r\n")
                rest = rest.dropFirst(20)
            }
            try await connection.send("0\r\nX-Trailer: a\r\n\r\n")
            #expect(try await connection.response().status == 200)
        }
    }

    @Test(arguments: ["10000000000000000000", "18446744073709551615", "9223372036854775807", "65537"])
    func `a body that is announced as too large is refused at once`(length: String) async throws {
        try await Self.probe { connection in
            try await connection.send(
                RunningService.request("POST", "/v1/sign-ins", fields: ["Content-Length": length]))
            #expect(try await connection.response().outcome == "413 body_too_large")
        }
    }

    @Test(arguments: [
        ("GET http://x?y=/livez", 404), ("GET http://x?/livez", 404), ("GET http://x/livez?y=/", 200),
        ("GET HTTP://x:80/livez", 200), ("GET https://[::1]:8080/livez", 200), ("GET http://x", 404),
        ("GET http:///livez", 400), ("GET http://user@x/livez", 400), ("GET ftp://x/livez", 400),
        ("GET http:/livez", 400), ("GET x://y/livez", 400), ("GET *", 400), ("GET x:80", 400),
        ("GET /livez#", 400), ("GET /livez?#x", 400), ("GET http://x#/livez", 400), ("GET /livez%00", 404),
        ("GET /%6Civez", 404), ("GET //livez", 404), ("GET /./livez", 404), ("GET /x/../livez", 404),
        ("GET /livez/", 404), ("OPTIONS *", 400), ("CONNECT x:80", 400), ("GET \u{E9}", 400),
    ])
    func `a target is read as RFC 9112 says`(line: String, status: Int) async throws {
        try await Self.probe { connection in
            try await connection.send("\(line) HTTP/1.1\r\nHost: x\r\n\r\n")
            let answer = try await connection.response()
            #expect(answer.status == status)
            if status == 400 { #expect(answer.code == "request_malformed") }
        }
    }

    @Test(.service { $0.limits.heldBodyBytes = 15_000 })
    func `bodies are bounded together, and what one held is free when it ends`() async throws {
        for (size, status) in [(60_000, 503), (20_000, 400), (16_000, 400)] {
            for _ in 0..<5 {
                let answer = try await service.post(
                    "/v1/identity-tokens/verify", body: String(repeating: "a", count: size))
                #expect(answer.status == status)
                #expect(answer.code == (status == 503 ? "overloaded" : "body_not_json"))
                #expect((answer["retry-after"] != nil) == (status == 503))
            }
        }
    }
}

/// Optional members and accepted formats of request bodies.
@Suite(.service()) struct BodyReadingTests {
    let service = RunningService.current

    private static let verify = "/v1/identity-tokens/verify"
    private static let signIn = "/v1/sign-ins"

    @Test(arguments: ["nonce", "client_id", "authorization_code", "access_token"])
    func `a member that is null is absent`(name: String) async throws {
        for target in [Self.verify, Self.signIn] {
            let response = try await service.post(target, body: try Bodies.identityToken([(name, .null)]))
            #expect((200...201).contains(response.status))
        }
    }

    @Test func `what a sign-in takes beside the token may be null too`() async throws {
        let response = try await service.post(
            Self.signIn, body: try Bodies.identityToken([("user", .null), ("create", .null)]))
        #expect(response.status == 201)
        #expect(response.json?["account"]?["first_name"] == nil)
    }

    @Test(arguments: [
        ("/v1/sign-ins", #"{"identity_token":null}"#, "identity_token"),
        ("/v1/credentials/query", #"{"client_id":null,"subs":["a"]}"#, "client_id"),
        ("/v1/credentials/query", #"{"client_id":"com.example.app","subs":null}"#, "subs"),
        ("/v1/apple/notifications", #"{"payload":null}"#, "payload"),
    ]) func `a member that must be there is missing when it is null`(
        target: String, body: String, member: String
    ) async throws {
        let response = try await service.post(target, body: body)
        #expect(response.outcome == "400 member_missing")
        #expect(response.json?["member"]?.string == member)
    }

    @Test func `null excuses no unknown member, no second one, and nothing in a list`() async throws {
        let unknown = try await service.post(Self.verify, body: try Bodies.identityToken([("nonse", .null)]))
        #expect(unknown.code == "member_unknown")
        let twice = try await service.post(
            Self.verify, body: #"{"nonce":null,"nonce":"n","identity_token":"a"}"#)
        #expect(twice.code == "body_not_json")
        let listed = try await service.post(
            "/v1/credentials/query", body: #"{"client_id":"com.example.app","subs":["a",null]}"#)
        #expect(listed.code == "member_malformed")
    }

    @Test func `user is taken as the text of Apple's form`() async throws {
        let text = #"{"name":{"firstName":"Ada","lastName":"Lovelace"},"email":"ada@example.com"}"#
        try await RunningService.with { service in
            let response = try await service.post(
                Self.signIn, body: try Bodies.identityToken([("user", .string(text))]))
            #expect(response.status == 201)
            expect(response.json?["account"], has: ["first_name": "Ada", "last_name": "Lovelace"])
        }
    }

    @Test func `an empty user is none`() async throws {
        let response = try await service.post(Self.signIn, body: try Bodies.identityToken([("user", "")]))
        #expect(response.status == 201)
        #expect(response.json?["dropped"] == nil)
    }

    @Test func `a response names what was dropped of the token and of user`() async throws {
        let user = #"{"fullName":{"givenName":"Ada\nMaria","familyName":"LONG"},"email":"-"}"#
            .replacing("LONG", with: String(repeating: "x", count: 300))
        try await RunningService.with { service in
            let body = try Bodies.identityToken([("user", .string(user))]) { $0["real_user_status"] = "2" }
            let response = try await service.post(Self.signIn, body: body).expecting(201)
            let dropped = response.json?["dropped"]?.array?.compactMap(\.string)
            #expect(dropped == ["real_user_status", "user.name", "user.email"])
            let account = response.json?["account"]
            #expect(account?["first_name"]?.string == "Ada Maria")
            #expect(account?["last_name"]?.string?.count == 256)
            let verified = try await service.post(
                "/v1/identity-tokens/verify", body: try Bodies.identityToken { $0["email"] = .null })
            #expect(verified.status == 200)
            #expect(verified.json?["dropped"]?.array?.compactMap(\.string) == ["email"])
        }
    }

    @Test func `values that were dropped are counted by name, and logged once a minute for each name`()
        async throws
    {
        @Sendable func send(to path: String, user: String = "") async throws {
            let body = try Bodies.identityToken([("user", .string(user))]) { $0["email"] = .null }
            #expect(try await [200, 201].contains(service.post(path, body: body).status))
        }
        try await send(to: Self.signIn)
        try await send(to: Self.signIn, user: #"{"email":"-"}"#)
        service.clock.advance(by: .seconds(60))
        try await send(to: Self.signIn)
        let text = try Bodies.identityToken { $0["email"] = .null }
        #expect(try await service.post(ProblemContractTests.verify, body: text).status == 200)
        let metrics = try await service.get("/metrics").text
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

    @Test(arguments: [
        "Ada", "null", "[]", #""{}""#, #"{"name":7}"#, #"{"name":{"firstName":"a","firstName":"b"}}"#, "{}{}",
        "{",
    ])
    func `a text that is not Apple's object is refused`(text: String) async throws {
        let response = try await service.post(
            Self.signIn, body: try Bodies.identityToken([("user", .string(text))]))
        #expect(response.outcome == "400 member_malformed")
        #expect(response.json?["member"]?.string == "user")
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
        #expect(try await service.post(target, body: body).outcome == "400 character_not_allowed")
    }

    @Test(arguments: ["{\u{0}}", "\u{0}{}", "{}\u{0}", "{\"identity_token\":\"\u{1}\"}"])
    func `a zero byte outside a string, and another control character, is no JSON`(body: String) async throws
    { #expect(try await service.post(Self.verify, body: body).code == "body_not_json") }
}

/// Random malformed input.
@Suite struct BadInputFloodTests {
    private var service: RunningService { .current }

    @Test(.service())
    func `mutilated requests never make the service fail or fall`() async throws {
        var generator = SeededGenerator(seed: 20_260_101)
        let good = [
            try Bodies.identityToken(), Bodies.json([("payload", .string(try Bodies.token()))]),
            #"{"client_id":"com.example.app","subs":["a","b"]}"#,
        ]
        let targets = [
            "/v1/identity-tokens/verify", "/v1/sign-ins", "/v1/credentials/query", "/v1/apple/notifications",
            "/v1/nonces",
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                let seed = generator.next()
                group.addTask { () async throws in
                    var generator = SeededGenerator(seed: seed)
                    for _ in 0..<60 {
                        let body = Self.mutilate(good[Int(generator.next() % 3)], &generator)
                        let target = targets[Int(generator.next() % 5)]
                        #expect(try await service.post(target, body: body).status < 500, "\(target) \(body)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await service.get("/readyz").status == 200)
    }

    @Test(.service())
    func `mutilated connections get one answer at most, and never a failure`() async throws {
        var generator = SeededGenerator(seed: 7)
        let request = RunningService.request("POST", "/v1/sign-ins", body: try Bodies.identityToken())
        for _ in 0..<150 {
            let bytes = Array(Self.mutilate(request, &generator).utf8)
            try await ProbeConnection.with(port: service.port) { connection in
                try await connection.send(bytes)
                connection.finishSending()
                let response = String(decoding: try await connection.rest(), as: UTF8.self)
                #expect(
                    response.isEmpty || response.hasPrefix("HTTP/1.1 2") || response.hasPrefix("HTTP/1.1 4"))
            }
        }
        #expect(try await service.get("/readyz").status == 200)
    }

    /// Cuts, doubles, swaps and replaces some characters.
    private static func mutilate(_ text: String, _ generator: inout SeededGenerator) -> String {
        var characters = Array(text.unicodeScalars)
        for _ in 0..<(1 + generator.next() % 4) {
            let place = Int(generator.next() % UInt64(characters.count))
            switch generator.next() % 5 {
            case 0: characters.removeSubrange(place...)
            case 1: characters.insert(characters[place], at: place)
            case 2: characters[place] = Unicode.Scalar(UInt8(generator.next() % 128))
            case 3: characters[place] = "\u{FFFD}"
            default: characters.swapAt(place, 0)
            }
            if characters.isEmpty { characters = ["x"] }
        }
        var mutilated = String.UnicodeScalarView()
        mutilated.append(contentsOf: characters)
        return String(mutilated)
    }
}
