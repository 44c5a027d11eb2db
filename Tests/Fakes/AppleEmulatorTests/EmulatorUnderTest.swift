import AppleEmulator
import AsyncHTTPClient
import JOSE
import Logging
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport

/// A running emulator, and a client for its socket.
struct EmulatorUnderTest {
    static let teamID = "TEAM000001"
    static let clientID = "com.example.app"

    let emulator: EmulatedApple
    let clock: TestClock
    let port: Int

    /// Runs an emulator on a free port during `body`.
    static func run(
        configure: (inout EmulatorConfiguration) -> Void = { _ in },
        _ body: (EmulatorUnderTest) async throws -> Void
    ) async throws {
        var configuration = try EmulatorConfiguration(
            teamID: teamID, clientIDs: [clientID, "com.example.app.web"])
        configuration.keys = try await TestKeys.keys()
        configuration.clientKeys = [try TestKeys.clientKey]
        configure(&configuration)
        let clock = TestClock()
        let emulator = try await EmulatedApple(
            configuration: configuration, clock: clock.emulatorClock, logger: .silent)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await emulator.run() }
            defer { group.cancelAll() }
            try await body(
                EmulatorUnderTest(emulator: emulator, clock: clock, port: try await emulator.port()))
        }
    }

    func get(_ path: String, headers: HTTPHeaders = [:]) async throws -> ReceivedResponse {
        try await send(.GET, path, headers: headers)
    }

    func post(_ path: String, _ body: String = "{}") async throws -> ReceivedResponse {
        try await send(.POST, path, body: body)
    }

    func send(
        _ method: HTTPMethod, _ path: String, headers: HTTPHeaders = [:], body: String? = nil,
        followsRedirects: Bool = true
    ) async throws -> ReceivedResponse {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = method
        request.headers = headers
        if let body { request.body = .bytes(Array(body.utf8)) }
        if followsRedirects { return try await Self.answer(to: request, HTTPClient.shared) }
        let sent = request
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            try await Self.answer(to: sent, client)
        }
    }

    private static func answer(to request: HTTPClientRequest, _ client: HTTPClient) async throws
        -> ReceivedResponse
    {
        let response = try await client.execute(request, timeout: .seconds(60))
        let received = try await response.body.collect(upTo: 1 << 20)
        return ReceivedResponse(
            status: Int(response.status.code), headers: response.headers,
            body: Array(received.readableBytesView))
    }

    /// Mints a token with these members and parses it.
    func mint(_ members: String = "{}") async throws -> ReadToken {
        let answer = try await post("/emulator/identity-tokens?format=text", members)
        return try ReadToken(answer.text)
    }

    func notify(_ members: String) async throws -> ReadToken {
        let answer = try await post("/emulator/notifications?format=text", members)
        return try ReadToken(answer.text)
    }

    func counter(_ name: String) async throws -> Int64? {
        try await get("/emulator/counters").json[name]?.integer
    }

    /// The key IDs of the key set, in the order of the response.
    func publishedKeyIDs() async throws -> [String] {
        try await get("/auth/keys").json["keys"]?.array?.compactMap { $0["kid"]?.string } ?? []
    }

    /// True if the signature is valid under the published key that the header names.
    func isValid(_ token: ReadToken) async throws -> Bool {
        let keys = try await get("/auth/keys").json["keys"]?.array ?? []
        guard let key = keys.first(where: { $0["kid"]?.string == token.header["kid"]?.string }) else {
            return false
        }
        return try token.isSigned(by: key)
    }
}
