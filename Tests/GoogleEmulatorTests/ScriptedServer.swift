import Encodings
import GoogleEmulator
import HTTPTypes
import Hummingbird
import JOSE
import Logging
import NIOCore
import StrictJSON
import Synchronization
import TestSupport

/// An authorization server on a real socket: it takes everything, and a test can replace its endpoints.
final class ScriptedServer: Sendable {
    struct Received: Sendable {
        let path: String
        /// Of a form.
        let fields: [String: String]
        let body: String
        let headers: HTTPFields
    }

    typealias Answer = @Sendable (Received) async throws -> Response

    let issuer: String
    let key: GoogleKey
    private let state = Mutex((answers: [String: Answer](), received: [Received]()))

    private init(port: Int, key: GoogleKey) {
        (issuer, self.key) = ("http://127.0.0.1:\(port)", key)
    }

    func received(_ path: String) -> [Received] {
        state.withLock { $0.received.filter { $0.path == path } }
    }

    func answer(_ path: String, with answer: @escaping Answer) {
        state.withLock { $0.answers[path] = answer }
    }

    static func run(
        key: GoogleKey, _ body: @escaping @Sendable (ScriptedServer) async throws -> Void
    ) async throws {
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let running = Mutex<ScriptedServer?>(nil)
        let router = Router()
        for method in [HTTPRequest.Method.get, .post] {
            router.on("**", method: method) { request, _ in
                guard let server = running.withLock({ $0 }) else { return Response(status: .notFound) }
                return try await server.respond(to: request)
            }
        }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }, logger: .silent)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            defer { group.cancelAll() }
            for await port in ports {
                let server = ScriptedServer(port: port, key: key)
                running.withLock { $0 = server }
                try await body(server)
                break
            }
        }
    }

    private func respond(to request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: 1 << 20)
        let fields = FormEncoding.decode(Array(buffer: body)) ?? []
        let received = Received(
            path: request.uri.path,
            fields: Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }),
            body: String(buffer: body), headers: request.headers)
        let answer = state.withLock { state in
            state.received.append(received)
            return state.answers[received.path]
        }
        if let answer { return try await answer(received) }
        switch received.path {
        case "/oauth/token": return Self.json(tokens(self.received("/oauth/token").count))
        case "/oauth/introspect": return Self.json(JSONObject([("active", .bool(true))]))
        case "/oauth/revoke": return Response(status: .ok)
        case "/v1/google/security-events": return Response(status: .accepted)
        case "/.well-known/risc-configuration":
            return Self.json(
                JSONObject([("issuer", .string(issuer)), ("jwks_uri", .string("\(issuer)/jwks.json"))]))
        case "/jwks.json":
            let jwk = key.privateKey.publicJWK(keyID: key.keyID)
            return Self.json(JSONObject([("keys", .array([.object(jwk)]))]))
        default: return Response(status: .notFound)
        }
    }

    func tokens(_ number: Int) -> JSONObject {
        JSONObject([
            ("access_token", .string("access-token-number-\(number)")), ("token_type", .string("Bearer")),
            ("expires_in", .integer(3600)), ("refresh_token", .string("refresh-token-number-\(number)")),
            ("scope", .string("devices")),
        ])
    }

    static func json(_ object: JSONObject, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: JSONValue.object(object).serialized())))
    }

    static func error(_ word: String, status: HTTPResponse.Status = .badRequest) -> Response {
        json(JSONObject([("error", .string(word))]), status: status)
    }
}
