import AppleIDClient
import ScriptedHTTP
import TestSupport
import Testing

/// The circuit breaker in the token client.
@Suite(.timeLimit(.hung)) struct BrokenEndpointTests {
    @Test func `an endpoint that keeps failing is not called, and then tried with one call`() async throws {
        let time = ManualClock(millisecondsSince1970: 1_700_000_000_000)
        try await AskedClient.with({ $0 <= 5 ? .json("", status: 500) : .token }, time: time) {
            client, server in
            for _ in 0..<5 {
                #expect(await Call.exchange.failure(client) == AppleCallError(.serverFailed))
            }
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
