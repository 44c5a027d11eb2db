import AppleIDClient
import TestSupport
import Testing

/// Checks that only a server with a certificate that the system trusts is accepted as Apple.
@Suite(.timeLimit(.hung)) struct TrustTests {
    @Test func `nothing is sent to a server whose certificate is not trusted`() async throws {
        let server = try await StrangeTLSServer()
        let limits = AppleTimeLimits(connect: .seconds(3), read: .seconds(3), total: .seconds(50))
        try await AskedClient.with("https://localhost:\(server.port)", limits: limits) { client in
            let error = try #require(await Call.exchange.failure(client))
            #expect(error == AppleCallError(.unreachable))
            #expect(!error.mayHaveHappened)
        }
        // The server was reached, and its certificate was refused.
        try await eventually { server.text.contains("alert unknown ca") }
    }
}
