import AppleIDClient
import NIOCore
import ScriptedHTTP
import TestSupport
import Testing

/// The failures of each call, before and after Apple may have done the work.
@Suite(.timeLimit(.hung)) struct AppleCallFailureTests {
    @Test(arguments: Call.allCases)
    func `a refused connection is certainly not a call`(call: Call) async throws {
        let closed = try ClosedPort()
        try await AskedClient.with("http://127.0.0.1:\(closed.port)", limits: AskedClient.impatient) {
            client in
            let error = try #require(await call.failure(client))
            #expect(error == AppleCallError(.unreachable))
            #expect(!error.mayHaveHappened)
        }
    }

    @Test func `an unknown host is certainly not a call`() async throws {
        try await AskedClient.with("http://siwa-test.invalid", limits: AskedClient.impatient) { client in
            #expect(await Call.exchange.failure(client) == AppleCallError(.unreachable))
        }
    }

    @Test func `a server without TLS is certainly not a call`() async throws {
        try await AskedClient.with({ _ in .nothing }, limits: AskedClient.impatient) { _, server in
            try await AskedClient.with("https://localhost:\(server.port)", limits: AskedClient.impatient) {
                client in
                #expect(await Call.exchange.failure(client) == AppleCallError(.unreachable))
            }
        }
    }

    @Test(arguments: Call.allCases) func `a missing response may follow a call`(call: Call) async throws {
        let limits = AppleTimeLimits(connect: .seconds(50), read: .milliseconds(300), total: .seconds(50))
        try await AskedClient.with({ _ in .nothing }, limits: limits) { client, server in
            let error = try #require(await call.failure(client))
            #expect(error == AppleCallError(.timedOut))
            #expect(error.mayHaveHappened)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a slow response ends with the total time limit`() async throws {
        // Long enough for a connection on a busy machine.
        let limits = AppleTimeLimits(connect: .seconds(50), read: .seconds(50), total: .seconds(2))
        try await AskedClient.with(
            { _ in
                .sendForever(
                    "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n", chunk: " ", pause: .milliseconds(20))
            }, limits: limits
        ) { client, _ in #expect(await Call.exchange.failure(client) == AppleCallError(.timedOut)) }
    }

    @Test(
        arguments: Call.allCases,
        [
            "", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"access",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"acc", "SSH-2.0-OpenSSH_9.2\r\n",
        ])
    func `a lost connection may have been a call, and only safe calls are repeated`(call: Call, text: String)
        async throws
    {
        try await AskedClient.with({ _ in .sendAndClose(text) }) { client, server in
            let error = try #require(await call.failure(client))
            #expect(error == AppleCallError(.connectionLost))
            #expect(error.mayHaveHappened)
            #expect(server.requests.count == call.attempts)
        }
    }

    @Test func `a safe call succeeds when only its first connection was lost`() async throws {
        try await AskedClient.with({ $0 == 1 ? .sendAndClose("") : .emptyOK }) { client, server in
            try await client.revoke(refreshToken: "r.t", clientID: AskedClient.clientID)
            #expect(server.requests.count == 2)
        }
    }

    @Test(
        arguments: [Call.exchange, .validate],
        [
            "", "<html>", "{", "[]", "null", "{}", #"{"access_token":"a"}"#,
            #"{"access_token":"a","token_type":"Bearer"}"#,
            #"{"access_token":"a","token_type":"mac","expires_in":3600}"#,
            #"{"access_token":"a","token_type":"Bearer","expires_in":"3600"}"#,
            #"{"access_token":"a","token_type":"Bearer","expires_in":1e300}"#,
            #"{"access_token":"a","token_type":"Bearer","expires_in":0}"#,
            #"{"access_token":"","token_type":"Bearer","expires_in":3600}"#,
            #"{"access_token":1,"token_type":"Bearer","expires_in":3600}"#,
            #"{"access_token":"a b","token_type":"Bearer","expires_in":3600}"#,
            #"{"access_token":"a","token_type":"Bearer","expires_in":3600,"refresh_token":null}"#,
            #"{"access_token":"a","token_type":"Bearer","expires_in":3600,"refresh_token":""}"#,
            #"{"access_token":"a","token_type":"Bearer","expires_in":3600,"id_token":{}}"#,
            #"{"access_token":"a","access_token":"b","token_type":"Bearer","expires_in":3600}"#,
            #"{"access_token":"a","token_type":"Bearer","expires_in":3600,}"#,
            #"{"access_token":"a","token_type":"Bearer","expires_in":3600}{}"#, #"{"error":"invalid_grant"}"#,
        ])
    func `a 200 without a token is unusable, and may have happened`(call: Call, body: String) async throws {
        try await AskedClient.with({ _ in .json(body) }) { client, server in
            let error = try #require(await call.failure(client))
            #expect(error == AppleCallError(.responseUnusable))
            #expect(error.mayHaveHappened && !error.isFinal)
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: [
        "Content-Length: 262145\r\n", "Transfer-Encoding: chunked\r\n", "Connection: close\r\n",
    ])
    func `a response of more than 256 KiB is unusable`(framing: String) async throws {
        let kibibyte = String(repeating: " ", count: 1024)
        let chunk = framing.hasPrefix("Transfer") ? "400\r\n\(kibibyte)\r\n" : kibibyte
        try await AskedClient.with({ _ in
            .sendForever("HTTP/1.1 200 OK\r\n\(framing)\r\n", chunk: chunk, pause: .zero)
        }) { client, _ in
            #expect(await Call.exchange.failure(client) == AppleCallError(.responseUnusable))
        }
    }

    @Test(arguments: [201, 204, 302, 400, 401, 403, 404, 418])
    func `a status without an OAuth error is unusable`(status: Int) async throws {
        let text =
            status == 204
            ? "HTTP/1.1 204 X\r\n\r\n" : "HTTP/1.1 \(status) X\r\nContent-Length: 6\r\n\r\n<html>"
        try await AskedClient.with({ _ in .send(text) }) { client, _ in
            #expect(await Call.exchange.failure(client) == AppleCallError(.responseUnusable))
            #expect(await Call.revoke.failure(client) == AppleCallError(.responseUnusable))
        }
    }

    @Test(arguments: [500, 502, 503, 504]) func `a 5xx may come after the work`(status: Int) async throws {
        try await AskedClient.with({ _ in .refusal("invalid_grant", status: status) }) { client, _ in
            let error = try #require(await Call.exchange.failure(client))
            #expect(error == AppleCallError(.serverFailed))
            #expect(error.mayHaveHappened && !error.isFinal)
        }
    }

    @Test(arguments: ["server_error", "temporarily_unavailable"])
    func `Apple's error codes for server failures are not refusals`(word: String) async throws {
        try await AskedClient.with({ _ in .refusal(word) }) { client, _ in
            #expect(await Call.validate.failure(client) == AppleCallError(.serverFailed))
        }
    }

    @Test(
        arguments: [
            (429, "", nil), (429, "Retry-After: 7\r\n", .seconds(7)),
            (503, "Retry-After: 7\r\n", .seconds(7)),
            (429, "Retry-After: 999999999\r\n", .seconds(3600)), (429, "Retry-After: -1\r\n", nil),
            (429, "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n", nil),
        ] as [(Int, String, Duration?)])
    func `a throttled request was not executed`(status: Int, header: String, wait: Duration?) async throws {
        try await AskedClient.with({ _ in .json("{}", status: status, headers: header) }) { client, _ in
            let error = try #require(await Call.exchange.failure(client))
            #expect(error == AppleCallError(.throttled))
            #expect(error.retryAfter == wait)
            #expect(!error.mayHaveHappened)
        }
    }

    @Test func `a redirect is not followed`() async throws {
        let elsewhere = try await ScriptedServer(always: .token)
        let head =
            "HTTP/1.1 307 Moved\r\nLocation: \(elsewhere.baseURL)/auth/token\r\nContent-Length: 0\r\n\r\n"
        try await AskedClient.with({ _ in .send(head) }) { client, _ in
            #expect(await Call.exchange.failure(client) == AppleCallError(.responseUnusable))
        }
        #expect(elsewhere.requests.isEmpty)
        try await elsewhere.close()
    }

    @Test func `a call that is cancelled ends`() async throws {
        try await AskedClient.with({ _ in .nothing }) { client, server in
            let call = Task { await Call.exchange.failure(client) }
            try await eventually { !server.requests.isEmpty }
            call.cancel()
            #expect(await call.value?.mayHaveHappened == true)
        }
    }
}

@Suite struct AppleCallErrorTests {
    @Test(arguments: AppleCallError.Code.allCases)
    func `a call may have happened when it was sent but not answered`(code: AppleCallError.Code) {
        let uncertain: Set<AppleCallError.Code> = [
            .timedOut, .connectionLost, .responseUnusable, .serverFailed,
        ]
        #expect(AppleCallError(code).mayHaveHappened == uncertain.contains(code))
    }

    @Test(arguments: AppleCallError.Code.allCases)
    func `only Apple's own refusal is final`(code: AppleCallError.Code) {
        #expect(AppleCallError(code).isFinal == (code == .rejected))
    }

    @Test(arguments: AppleErrorCode.allCases)
    func `a refused client is an error of the configuration`(word: AppleErrorCode) {
        let error = AppleCallError(.rejected, appleError: word)
        #expect(error.isOfConfiguration == [.invalidClient, .unauthorizedClient].contains(word))
    }

    @Test func `its description has no detail`() {
        let error = AppleCallError(.rejected, appleError: .invalidGrant, detail: "c0de")
        #expect("\(error)" == "call to Apple failed: rejected (invalid_grant)")
        #expect(String(reflecting: error).contains("c0de"))
    }
}

/// The circuit breaker in the token client.
@Suite(.timeLimit(.hung)) struct BrokenEndpointTests {
    @Test func `an endpoint that keeps failing is not called, and then tried with one call`() async throws {
        let time = ManualClock(millisecondsSince1970: 1_700_000_000_000)
        try await AskedClient.with({ $0 <= 5 ? .json("", status: 500) : .token }, time: time) {
            client, server in
            for _ in 0..<5 { #expect(await Call.exchange.failure(client) == AppleCallError(.serverFailed)) }
            let error = try #require(await Call.exchange.failure(client))
            #expect(error == AppleCallError(.circuitOpen))
            #expect(error.retryAfter == .seconds(2))
            #expect(!error.mayHaveHappened)
            #expect(server.requests.count == 5)
            time.secondsSince1970 += 2
            #expect(await Call.exchange.failure(client) == nil)
            #expect(await Call.validate.failure(client) == nil)
            #expect(server.requests.count == 7)
        }
    }

    @Test func `each endpoint has its own circuit breaker`() async throws {
        try await AskedClient.with({ $0 <= 5 ? .json("", status: 500) : .token }) { client, _ in
            for _ in 0..<6 { _ = await Call.revoke.failure(client) }
            #expect(await Call.revoke.failure(client) == AppleCallError(.circuitOpen))
            #expect(await Call.exchange.failure(client) == nil)
        }
    }

    @Test(arguments: [ScriptedServer.Response.refusal("invalid_grant"), .json("{}", status: 429)])
    func `refusals and throttling do not open the circuit`(response: ScriptedServer.Response) async throws {
        try await AskedClient.with({ _ in response }) { client, server in
            for _ in 0..<20 { _ = await Call.validate.failure(client) }
            #expect(server.requests.count == 20)
        }
    }
}
