import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import StrictJSON

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
