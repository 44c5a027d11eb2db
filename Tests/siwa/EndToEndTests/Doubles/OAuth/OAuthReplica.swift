import AsyncHTTPClient
import Encodings
import NIOCore
import NIOHTTP1
import StrictJSON

/// A process of the service, called by OAuth clients, browsers and the app's backend.
struct OAuthReplica: Sendable {
    typealias Fields = [(name: String, value: String)]

    struct Response: Sendable {
        let status: UInt
        let headers: HTTPHeaders
        let text: String

        var json: JSONValue? { try? JSONValue(parsing: Array(text.utf8)) }
        var error: String? { json?["error"]?.string }
        var location: String? { headers.first(name: "Location") }

        subscript(name: String) -> String? { json?[name]?.string }
    }

    struct Unexpected: Error, CustomStringConvertible {
        let description: String

        init(_ what: String, _ answer: Response) {
            description = "\(what): \(answer.status) \(answer.location ?? "") \(answer.text)"
        }
    }

    let service: ServiceProcess

    var port: Int { service.port }
    var backend: Backend { Backend(port: port, secret: LinkedSystem.secret) }

    /// HTTP client with enough connections that no request of a race waits for another. It does not repeat
    /// lost requests.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.redirectConfiguration = .disallow
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    func send(
        _ method: HTTPMethod, _ target: String, headers: [(String, String)] = [], body: [UInt8]? = nil
    ) async throws -> Response {
        try await Self.send(method, "http://127.0.0.1:\(port)\(target)", headers: headers, body: body)
    }

    static func send(
        _ method: HTTPMethod, _ url: String, headers: [(String, String)] = [], body: [UInt8]? = nil
    ) async throws -> Response {
        var request = HTTPClientRequest(url: url)
        request.method = method
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let body { request.body = .bytes(body) }
        let response = try await client.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        return Response(status: response.status.code, headers: response.headers, text: text)
    }

    func post(
        _ target: String, _ fields: Fields, headers: [(String, String)] = []
    ) async throws -> Response {
        try await send(
            .POST, target,
            headers: [("Content-Type", "application/x-www-form-urlencoded")] + headers,
            body: Array(FormEncoding.encode(fields).utf8))
    }

    func token(_ fields: Fields) async throws -> Response { try await post("/oauth/token", fields) }

    /// Introspects a token as the app's API does.
    func introspect(_ token: String) async throws -> Response {
        let answer = try await post(
            "/oauth/introspect", [("token", token)],
            headers: [("Authorization", "Bearer \(LinkedSystem.secret)")])
        guard answer.status == 200 else { throw Unexpected("introspection", answer) }
        return answer
    }

    func isActive(_ token: String) async throws -> Bool {
        try await introspect(token).json?["active"]?.bool ?? false
    }
}
