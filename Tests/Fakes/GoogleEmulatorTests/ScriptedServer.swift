import Encodings
import GoogleEmulator
import HTTPTypes
import Hummingbird
import JOSE
import NIOCore
import ScriptedHTTP
import StrictJSON
import Synchronization

/// An authorization server on a real socket. It accepts every request, and a test can replace its endpoints.
final class ScriptedServer: Sendable {
    struct Received: Sendable {
        let path: String
        /// Fields of a form.
        let fields: [String: String]
        let body: String
        let headers: HTTPFields
    }

    typealias Endpoint = @Sendable (Received) async throws -> Response

    let issuer: String
    let key: GoogleKey
    private let state = Mutex((endpoints: [String: Endpoint](), received: [Received]()))

    private init(port: Int, key: GoogleKey) {
        (issuer, self.key) = ("http://127.0.0.1:\(port)", key)
    }

    func received(_ path: String) -> [Received] {
        state.withLock { $0.received.filter { $0.path == path } }
    }

    func replace(_ path: String, with endpoint: @escaping Endpoint) {
        state.withLock { $0.endpoints[path] = endpoint }
    }

    static func run(
        key: GoogleKey, _ body: @escaping @Sendable (ScriptedServer) async throws -> Void
    ) async throws {
        try await LoopbackServer.run(
            make: { ScriptedServer(port: $0, key: key) }, respond: { try await $0.respond(to: $1) }, body)
    }

    private func respond(to request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: 1 << 20)
        let fields = FormEncoding.decode(Array(buffer: body)) ?? []
        let received = Received(
            path: request.uri.path,
            fields: Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }),
            body: String(buffer: body), headers: request.headers)
        let endpoint = state.withLock { state in
            state.received.append(received)
            return state.endpoints[received.path]
        }
        if let endpoint { return try await endpoint(received) }
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
