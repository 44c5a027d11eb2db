import AppleEmulator
import NIOHTTP1
import StrictJSON
import Testing

@Suite struct EndpointFaultTests {
    @Test func `loses the response after the work was done`() async throws {
        try await EmulatorUnderTest.run { apple in
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
    }

    @Test func `cuts before the work`() async throws {
        try await EmulatorUnderTest.run { apple in
            let code = try await apple.code()
            try await fault(apple, "token", #"{"cut":"before_work","times":1}"#)
            await #expect(throws: (any Error).self) { try await apple.exchange(code) }
            #expect(try await apple.counter("exchanges") == 0)
            #expect(try await apple.counter("token_requests") == 1)
            #expect(try await apple.counter("token_faults") == 1)
            #expect(try await apple.exchange(code).status == 200)
        }
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
        try await EmulatorUnderTest.run { apple in
            let code = try await apple.code()
            try await fault(apple, "token", body)
            let response = try await apple.exchange(code)
            #expect(response.status == status)
            let isRight = (try? response.json)?["refresh_token"] != nil
            #expect(isRight == (body.contains("genuine") || body.contains("oversized")))
            if body.contains("oversized") { #expect(response.body.count > 256 * 1024) }
            #expect(try await apple.counter("exchanges") == (works ? 1 : 0))
        }
    }

    @Test(arguments: ["token", "revoke", "migration"])
    func `delays the response of any endpoint`(endpoint: String) async throws {
        try await EmulatorUnderTest.run { apple in
            try await fault(apple, endpoint, #"{"delay_ms":2500,"times":1}"#)
            let path = endpoint == "migration" ? "usermigrationinfo" : endpoint
            #expect(try await apple.call("/auth/\(path)", [:]).error == "invalid_request")
            #expect(apple.clock.sleeps == [2500])
            #expect(try await apple.counter("\(endpoint)_requests") == 1)
            #expect(try await apple.counter("\(endpoint)_faults") == 1)
            #expect(try await apple.counter("\(endpoint)_refusals") == 1)
        }
    }

    @Test(arguments: ["no_keys", "unusable_keys"])
    func `refuses key faults for other endpoints`(body: String) async throws {
        try await EmulatorUnderTest.run { apple in
            let response = try await apple.send(
                .PUT, "/emulator/faults/token", body: #"{"body":"\#(body)"}"#)
            #expect(response.code == "member_malformed")
        }
    }

    private func fault(_ apple: EmulatorUnderTest, _ endpoint: String, _ members: String) async throws {
        let response = try await apple.send(.PUT, "/emulator/faults/\(endpoint)", body: members)
        #expect(response.status == 200)
    }
}
