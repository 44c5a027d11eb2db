import AppleEmulator
import AsyncHTTPClient
import EmulatorServer
import Foundation
import HTTPAPI
import HTTPEngine
import KeySets
import Logging
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport

@testable import Composition
@testable import siwa_dev

/// The fake Apple and the service as `siwa dev` runs them, in this process, over real sockets.
struct WholeSystem: Sendable {
    static let clientID = "com.example.app"
    static let secret = "siwa_end_to_end"

    let apple: EmulatorState
    let directory: TemporaryDirectory
    let backend: Backend

    /// Bounds without rejections for overload: a round of the event loops takes many times as long in a test
    /// build.
    private static var admission: AdmissionBounds {
        var bounds = AdmissionBounds()
        bounds.target = .seconds(60)
        bounds.notificationTarget = .seconds(60)
        return bounds
    }

    /// Runs both during `body`. `bounds` are for tests that cannot wait for the default bounds.
    static func with<Result: Sendable>(
        bounds: KeySetBounds = KeySetBounds(), _ body: @Sendable (WholeSystem) async throws -> Result
    ) async throws -> Result {
        try await withApple { emulator, directory in
            try await withService(emulator, directory, bounds: bounds) { backend in
                try await body(
                    WholeSystem(apple: emulator.state, directory: directory, backend: backend))
            }
        }
    }

    /// Signing keys of the fake Apple, made once because making keys takes longer than most tests.
    static let appleKeys = Task { try await SigningKey.generate(count: 3) }

    /// Runs the fake Apple alone.
    static func withApple<Result: Sendable>(
        _ body: @Sendable (EmulatedApple, TemporaryDirectory) async throws -> Result
    ) async throws -> Result {
        var configuration = try EmulatorConfiguration(
            teamID: DevelopmentSettings.team, clientIDs: [clientID, "com.example.web"])
        configuration.keys = try await appleKeys.value
        let emulator = try await EmulatedApple(configuration: configuration, clock: .system, logger: .silent)
        return try await TemporaryDirectory.with { directory in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await emulator.run() }
                _ = try await emulator.port()
                let result = try await body(emulator, directory)
                group.cancelAll()
                return result
            }
        }
    }

    /// Runs the service, which keeps its database in `directory`. Another call is a restart.
    static func withService<Result: Sendable>(
        _ emulator: EmulatedApple, _ directory: TemporaryDirectory, bounds: KeySetBounds = KeySetBounds(),
        waitsForKeys: Bool = true, _ body: @Sendable (Backend) async throws -> Result
    ) async throws -> Result {
        try await withService(
            emulator, database: "sqlite://\(directory.path)/siwa.sqlite", bounds: bounds,
            waitsForKeys: waitsForKeys, body)
    }

    /// Runs the service on any database. On PostgreSQL, a call inside `body` starts a replica.
    static func withService<Result: Sendable>(
        _ emulator: EmulatedApple, database: String, bounds: KeySetBounds = KeySetBounds(),
        waitsForKeys: Bool = true, webhooks: [WebhookSettings] = [],
        _ body: @Sendable (Backend) async throws -> Result
    ) async throws -> Result {
        var settings = try DevelopmentSettings(
            clientIDs: [clientID, "com.example.web"], port: 0, applePort: try await emulator.port(),
            secret: secret, database: database
        ).settings()
        settings.webhooks = webhooks
        let service = try await ComposedService(
            settings: settings, observation: ProcessObservation(level: .error) { _ in }, signals: [],
            keySetBounds: bounds, admission: Self.admission)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            let port = try await service.boundPort()
            try emulator.state.setNotificationURL("http://127.0.0.1:\(port)/v1/apple/notifications")
            if waitsForKeys { await service.waitForKeys() }
            let result = try await body(Backend(port: port, secret: secret))
            await service.stop()
            try await group.waitForAll()
            return result
        }
    }
}

/// A mobile backend that calls the service.
struct Backend: Sendable {
    let port: Int
    let secret: String

    struct Response: Sendable {
        let status: UInt
        let text: String
        let json: JSONValue?
        var retryAfter: String?

        var code: String? { json?["code"]?.string }
        subscript(name: String) -> JSONValue? { json?[name] }
    }

    func get(_ target: String) async throws -> Response {
        try await send(request(target))
    }

    func post(_ target: String, _ members: [(String, JSONValue)] = []) async throws -> Response {
        var request = request(target)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(JSONValue.object(JSONObject(members)).serialized())
        return try await send(request)
    }

    func delete(_ target: String) async throws -> Response {
        var request = request(target)
        request.method = .DELETE
        return try await send(request)
    }

    func signIn(_ token: String, _ more: [(String, JSONValue)] = []) async throws -> Response {
        try await post("/v1/sign-ins", [("identity_token", .string(token))] + more)
    }

    func verify(_ token: String) async throws -> Response {
        try await post("/v1/identity-tokens/verify", [("identity_token", .string(token))])
    }

    func notify(_ payload: String) async throws -> Response {
        try await post("/v1/apple/notifications", [("payload", .string(payload))])
    }

    func credential(_ subject: String) async throws -> Response {
        try await get("/v1/credentials/\(subject)?client_id=\(WholeSystem.clientID)")
    }

    func account(_ subject: String) async throws -> Response {
        try await get("/v1/accounts?client_id=\(WholeSystem.clientID)&sub=\(subject)")
    }

    /// One client for all tests. It does not retry connections to a killed service.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    private func request(_ target: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(target)")
        request.headers.add(name: "Authorization", value: "Bearer \(secret)")
        return request
    }

    private func send(_ request: HTTPClientRequest) async throws -> Response {
        let response = try await Self.client.execute(request, timeout: .seconds(60))
        let body = try await response.body.collect(upTo: 16 * 1024 * 1024)
        let limits = JSONLimits(depth: 16, members: 256)
        return Response(
            status: response.status.code, text: String(decoding: body.readableBytesView, as: UTF8.self),
            json: try? JSONValue(parsing: Array(body.readableBytesView), limits: limits),
            retryAfter: response.headers.first(name: "Retry-After"))
    }
}
