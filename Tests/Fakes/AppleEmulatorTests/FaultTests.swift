import AppleEmulator
import JOSE
import NIOHTTP1
import StrictJSON
import Testing

@Suite(.apple()) struct FaultTests {
    let apple = EmulatorUnderTest.current

    @Test(arguments: [
        ("html", 200, "text/html;charset=UTF-8"), ("empty", 200, "application/json;charset=UTF-8"),
        ("unrelated", 200, "application/json;charset=UTF-8"),
        ("no_keys", 200, "application/json;charset=UTF-8"),
    ])
    func `answers another body`(body: String, status: Int, contentType: String) async throws {
        #expect(
            try await apple.send(.PUT, "/emulator/faults/keys", body: #"{"body":"\#(body)"}"#).status == 200)
        let response = try await apple.get("/auth/keys", headers: ["If-None-Match": "*"])
        #expect(response.status == status)
        #expect(response.headers["content-type"] == [contentType])
        #expect(response.headers["etag"].isEmpty)
        #expect((try? response.json["keys"]?.array?.isEmpty) != false)
        #expect(response.body.isEmpty == (body == "empty"))
    }

    @Test func `answers with a valid key set that is too large`() async throws {
        _ = try await apple.send(.PUT, "/emulator/faults/keys", body: #"{"body":"oversized"}"#)
        let response = try await apple.get("/auth/keys")
        #expect(response.body.count > 256 * 1024)
        #expect(try response.json["keys"]?.array?.count == 3)
    }

    @Test func `answers JSON that ends in the middle`() async throws {
        _ = try await apple.send(.PUT, "/emulator/faults/keys", body: #"{"body":"malformed"}"#)
        let response = try await apple.get("/auth/keys")
        #expect(response.body.starts(with: Array(#"{"keys":["#.utf8)))
        #expect(throws: JSONError(.jsonInvalid)) { try JSONValue(parsing: response.body) }
    }

    @Test func `answers with unusable keys`() async throws {
        _ = try await apple.send(.PUT, "/emulator/faults/keys", body: #"{"body":"unusable_keys"}"#)
        let keys = try #require(try await apple.get("/auth/keys").json["keys"]?.array)
        #expect(keys.map { $0["kty"] } == ["EC", "RSA"])
        #expect(try JSONWebKeySet(parsing: await apple.get("/auth/keys").body).isEmpty)
    }

    @Test(arguments: [404, 429, 500, 503])
    func `answers a status with an error page`(status: Int) async throws {
        _ = try await apple.send(.PUT, "/emulator/faults/keys", body: #"{"status":\#(status)}"#)
        let response = try await apple.get("/auth/keys")
        #expect(response.status == status)
        #expect(response.headers["content-type"] == ["text/html;charset=UTF-8"])
    }

    @Test func `can send the genuine keys with an error status`() async throws {
        _ = try await apple.send(.PUT, "/emulator/faults/keys", body: #"{"status":500,"body":"genuine"}"#)
        let response = try await apple.get("/auth/keys")
        #expect(response.status == 500)
        #expect(try response.json["keys"]?.array?.count == 3)
    }

    @Test(arguments: ["before_answer", "mid_body"])
    func `cuts the connection`(cut: String) async throws {
        _ = try await apple.send(.PUT, "/emulator/faults/keys", body: #"{"cut":"\#(cut)"}"#)
        await #expect(throws: (any Error).self) { try await apple.get("/auth/keys") }
        #expect(try await apple.counter("key_set_requests") == 1)
        #expect(try await apple.counter("key_set_faults") == 1)
    }

    @Test func `delays the response`() async throws {
        _ = try await apple.send(.PUT, "/emulator/faults/keys", body: #"{"delay_ms":1500}"#)
        #expect(try await apple.publishedKeyIDs().count == 3)
        #expect(apple.clock.sleeps == [1500])
    }

    @Test func `forbids caching and hides the entity tag`() async throws {
        _ = try await apple.send(
            .PUT, "/emulator/faults/keys", body: #"{"cache_control":"no-store","etag":false}"#)
        let response = try await apple.get("/auth/keys", headers: ["If-None-Match": "*"])
        #expect(response.status == 200)
        #expect(response.headers["cache-control"] == ["no-store"])
        #expect(response.headers["etag"].isEmpty)
    }

    @Test func `the fault ends after the given number of requests`() async throws {
        let set = try await apple.send(.PUT, "/emulator/faults/keys", body: #"{"status":503,"times":2}"#)
        #expect(try set.json["keys"]?["times"] == 2)
        #expect(try await apple.get("/auth/keys").status == 503)
        #expect(try await apple.get("/emulator/faults").json["keys"]?["times"] == 1)
        #expect(try await apple.get("/auth/keys").status == 503)
        #expect(try await apple.get("/auth/keys").status == 200)
        #expect(try await apple.get("/emulator/faults").json == .object(JSONObject()))
        #expect(try await apple.counter("key_set_faults") == 2)
    }

    @Test(arguments: ["/emulator/faults", "/emulator/faults/keys"])
    func `the fault can be removed`(path: String) async throws {
        _ = try await apple.send(.PUT, "/emulator/faults/keys", body: #"{"status":503}"#)
        #expect(try await apple.send(.DELETE, path).status == 200)
        #expect(try await apple.get("/auth/keys").status == 200)
    }

    @Test(arguments: [
        #"{"delay_ms":60001}"#, #"{"delay_ms":-1}"#, #"{"status":199}"#, #"{"status":600}"#,
        #"{"body":"none"}"#,
        #"{"cut":"late"}"#, #"{"times":0}"#, #"{"cache_control":"a\r\nb"}"#, #"{"etag":"no"}"#,
    ])
    func `refuses an invalid fault`(body: String) async throws {
        let response = try await apple.send(.PUT, "/emulator/faults/keys", body: body)
        #expect(response.status == 400)
        #expect(response.code == "member_malformed")
        #expect(apple.emulator.state.faults.isEmpty)
    }

    @Test func `refuses a fault on an unknown endpoint`() async throws {
        let response = try await apple.send(.PUT, "/emulator/faults/nothing", body: "{}")
        #expect(response.status == 400)
        #expect(response.code == "parameter_malformed")
    }
}

@Suite(.apple()) struct EndpointFaultTests {
    let apple = EmulatorUnderTest.current

    @Test func `loses the response after the work was done`() async throws {
        let code = try await apple.code()
        try await fault(apple, "token", #"{"cut":"before_answer","times":1}"#)
        await #expect(throws: (any Error).self) { try await apple.exchange(code) }
        #expect(try await apple.counter("exchanges") == 1)
        #expect(try await apple.exchange(code).error == "invalid_grant")

        let token = try await apple.refreshToken()
        try await fault(apple, "revoke", #"{"cut":"mid_body","times":1}"#)
        await #expect(throws: (any Error).self) { try await apple.revoke(token) }
        #expect(try await apple.refresh(token).error == "invalid_grant")
    }

    @Test func `cuts before the work`() async throws {
        let code = try await apple.code()
        try await fault(apple, "token", #"{"cut":"before_work","times":1}"#)
        await #expect(throws: (any Error).self) { try await apple.exchange(code) }
        #expect(try await apple.counter("exchanges") == 0)
        #expect(try await apple.counter("token_requests") == 1)
        #expect(try await apple.counter("token_faults") == 1)
        #expect(try await apple.exchange(code).status == 200)
    }

    @Test(
        arguments: [
            (#"{"status":500}"#, 500, false), (#"{"status":503,"body":"empty"}"#, 503, false),
            (#"{"status":500,"work":true}"#, 500, true), (#"{"status":500,"body":"genuine"}"#, 500, true),
            (#"{"body":"html"}"#, 200, true), (#"{"body":"empty"}"#, 200, true),
            (#"{"body":"malformed"}"#, 200, true), (#"{"body":"oversized"}"#, 200, true),
            (#"{"body":"unrelated"}"#, 200, true), (#"{"body":"html","work":false}"#, 200, false),
        ] as [(String, Int, Bool)])
    func `answers wrongly, having done the work or not`(
        body: String, status: Int, works: Bool
    ) async throws {
        let code = try await apple.code()
        try await fault(apple, "token", body)
        let response = try await apple.exchange(code)
        #expect(response.status == status)
        let isRight = (try? response.json)?["refresh_token"] != nil
        #expect(isRight == (body.contains("genuine") || body.contains("oversized")))
        if body.contains("oversized") { #expect(response.body.count > 256 * 1024) }
        #expect(try await apple.counter("exchanges") == (works ? 1 : 0))
    }

    @Test(arguments: ["token", "revoke", "migration"])
    func `delays the response of any endpoint`(endpoint: String) async throws {
        try await fault(apple, endpoint, #"{"delay_ms":2500,"times":1}"#)
        let path = endpoint == "migration" ? "usermigrationinfo" : endpoint
        #expect(try await apple.call("/auth/\(path)", [:]).error == "invalid_request")
        #expect(apple.clock.sleeps == [2500])
        #expect(try await apple.counter("\(endpoint)_requests") == 1)
        #expect(try await apple.counter("\(endpoint)_faults") == 1)
        #expect(try await apple.counter("\(endpoint)_refusals") == 1)
    }

    @Test(arguments: ["no_keys", "unusable_keys"])
    func `refuses key faults for other endpoints`(body: String) async throws {
        let response = try await apple.send(
            .PUT, "/emulator/faults/token", body: #"{"body":"\#(body)"}"#)
        #expect(response.code == "member_malformed")
    }

    private func fault(_ apple: EmulatorUnderTest, _ endpoint: String, _ members: String) async throws {
        #expect(try await apple.send(.PUT, "/emulator/faults/\(endpoint)", body: members).status == 200)
    }
}
