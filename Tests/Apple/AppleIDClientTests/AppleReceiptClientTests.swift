import AppleIDClient
import AsyncHTTPClient
import Encodings
import JOSE
import ScriptedHTTP
import StrictJSON
import TestSupport
import Testing

@Suite(.timeLimit(.hung)) struct AppleReceiptClientTests {
    private static let receipt: [UInt8] = [1, 2, 3, 4]

    private func with<Result>(
        _ response: @escaping @Sendable (Int) -> ScriptedServer.Response, keys: [ClientSigningKey],
        _ body: (AppleReceiptClient, ScriptedServer) async throws -> Result
    ) async throws -> Result {
        let server = try await ScriptedServer(response)
        let http = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: .apple(AskedClient.patient))
        let client = AppleReceiptClient(
            client: http, endpoints: try #require(AppleEndpoints(baseURL: server.baseURL)),
            keys: ChangingKeys(keys), limits: AskedClient.patient, secondsSince1970: { 1_700_000_000 })
        do {
            let result = try await body(client, server)
            try await http.shutdown()
            try await server.close()
            return result
        } catch {
            try? await http.shutdown()
            try? await server.close()
            throw error
        }
    }

    private func exchange(
        _ client: AppleReceiptClient, isProduction: Bool = true
    ) async -> Result<ReceiptResponse, AppleCallError> {
        do throws(AppleCallError) {
            return .success(
                try await client.exchange(
                    receipt: Self.receipt, team: "A1B2C3D4E5", isProduction: isProduction))
        } catch {
            return .failure(error)
        }
    }

    @Test(arguments: [(true, "/v1/attestationData"), (false, "/development/v1/attestationData")])
    func `posts the receipt with a token of the team, without Bearer`(
        isProduction: Bool, path: String
    ) async throws {
        let key = try ClientSigningKey.sample()
        try await with({ _ in .json("BQYH") }, keys: [key]) { client, server in
            #expect(await exchange(client, isProduction: isProduction) == .success(.refreshed([5, 6, 7])))
            let request = try #require(server.requests.first)
            #expect(request.hasPrefix("POST \(path) HTTP/1.1\r\n"))
            #expect(request.hasSuffix(Base64.encode(Self.receipt)))
            let line = try #require(
                request.split(separator: "\r\n").first { $0.hasPrefix("Authorization: ") })
            let segments = try #require(JWSSegments(compact: String(line.dropFirst(15))))
            let header = try JSONValue(parsing: segments.header)
            #expect(header["alg"]?.string == "ES256" && header["kid"]?.string == key.keyID)
            let claims = try JSONValue(parsing: segments.payload)
            #expect(claims["iss"]?.string == "A1B2C3D4E5" && claims["iat"]?.integer == 1_700_000_000)
        }
    }

    @Test(arguments: [(304, ReceiptResponse.tooEarly), (400, .refused), (404, .forgotten)])
    func `a status is a response of its own`(status: Int, expected: ReceiptResponse) async throws {
        let response = ScriptedServer.Response.send("HTTP/1.1 \(status) X\r\nContent-Length: 0\r\n\r\n")
        try await with({ _ in response }, keys: [.sample()]) { client, _ in
            #expect(await exchange(client) == .success(expected))
        }
    }

    @Test(arguments: [
        (429, AppleCallError(.throttled)), (500, AppleCallError(.serverFailed)),
        (503, AppleCallError(.serverFailed)), (302, AppleCallError(.responseUnusable)),
    ])
    func `other statuses are errors`(status: Int, error: AppleCallError) async throws {
        try await with({ _ in .json("{}", status: status) }, keys: [.sample()]) { client, _ in
            #expect(await exchange(client) == .failure(error))
        }
    }

    @Test(arguments: ["", "not base64", "<html>"])
    func `a body that is no receipt is unusable`(body: String) async throws {
        try await with({ _ in .json(body) }, keys: [.sample()]) { client, _ in
            #expect(await exchange(client) == .failure(AppleCallError(.responseUnusable)))
        }
    }

    @Test func `the next key is tried when Apple refuses the token`() async throws {
        let keys = [try ClientSigningKey.sample(), try .sample("SECOND0000")]
        try await with({ $0 == 1 ? .json("{}", status: 401) : .json("BQYH") }, keys: keys) { client, server in
            #expect(await exchange(client) == .success(.refreshed([5, 6, 7])))
            #expect(server.requests.count == 2)
        }
        try await with({ _ in .json("{}", status: 401) }, keys: keys) { client, server in
            let refusal = AppleCallError(.rejected, appleError: .invalidClient)
            #expect(await exchange(client) == .failure(refusal))
            #expect(refusal.isOfConfiguration && server.requests.count == 2)
        }
        try await with({ _ in .nothing }, keys: []) { client, _ in
            #expect(await exchange(client) == .failure(AppleCallError(.noSigningKey)))
        }
    }

    @Test func `Apple has a host for each environment`() {
        let apple = AppleEndpoints.apple
        #expect(apple.attestationData == "https://data.appattest.apple.com/v1/attestationData")
        #expect(
            apple.developmentAttestationData
                == "https://data-development.appattest.apple.com/v1/attestationData")
    }
}
