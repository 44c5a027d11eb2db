import AppleIDClient
import AsyncHTTPClient
import ScriptedHTTP
import TestSupport
import Testing

/// A token client for one scripted server, during a test.
enum AskedClient {
    /// Long enough for a busy machine, for tests that are not about time.
    static let patient = AppleTimeLimits(connect: .seconds(50), read: .seconds(50), total: .seconds(50))
    static let impatient = AppleTimeLimits(
        connect: .milliseconds(300), read: .milliseconds(300), total: .milliseconds(300))

    static let clientID = "com.example.app"

    static func with<Result>(
        _ baseURL: String, keys: [ClientSigningKey]? = nil, limits: AppleTimeLimits = patient,
        time: ManualClock = ManualClock(millisecondsSince1970: 1_700_000_000_000),
        _ body: (AppleTokenClient) async throws -> Result
    ) async throws -> Result {
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple(limits))
        let secrets = SignedClientSecrets(
            teams: [clientID: "A1B2C3D4E5"], keys: ChangingKeys(try keys ?? [.sample()]),
            secondsSince1970: { time.secondsSince1970 })
        let service = AppleTokenClient(
            client: client, endpoints: try #require(AppleEndpoints(baseURL: baseURL)), secrets: secrets,
            limits: limits, uptime: { .seconds(time.secondsSince1970) })
        do {
            let result = try await body(service)
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }

    /// Starts a server with these responses, runs the test, and stops the server.
    static func with<Result>(
        _ response: @escaping @Sendable (Int) -> ScriptedServer.Response, keys: [ClientSigningKey]? = nil,
        limits: AppleTimeLimits = patient,
        time: ManualClock = ManualClock(millisecondsSince1970: 1_700_000_000_000),
        _ body: (AppleTokenClient, ScriptedServer) async throws -> Result
    ) async throws -> Result {
        let server = try await ScriptedServer(response)
        do {
            let result = try await with(server.baseURL, keys: keys, limits: limits, time: time) {
                try await body($0, server)
            }
            try await server.close()
            return result
        } catch {
            try? await server.close()
            throw error
        }
    }
}
