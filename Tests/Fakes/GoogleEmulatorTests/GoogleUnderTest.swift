import AsyncHTTPClient
import EmulatorServer
import Encodings
import GoogleEmulator
import HTTPTypes
import Hummingbird
import JOSE
import Logging
import NIOCore
import NIOHTTP1
import ScriptedHTTP
import StrictJSON
import Synchronization
import TestSupport
import Testing

/// A running fake Google, its linked scripted server, and a client for the fake Google's socket.
struct GoogleUnderTest: Sendable {
    /// The fake Google of the running test, by the trait `google`.
    static var current: GoogleUnderTest { TestScope.current }

    static let now: Int64 = 1_800_000_000

    let service: GoogleEmulatorService
    let server: ScriptedServer
    let port: Int
    let clock: ManualClock

    private static let keys = Task { (try GoogleKey.generate(), try GoogleKey.generate()) }

    static func run(
        _ change: @Sendable (inout GoogleEmulatorConfiguration) -> Void = { _ in },
        _ body: @Sendable (GoogleUnderTest) async throws -> Void
    ) async throws {
        let (googleKey, serverKey) = try await keys.value
        let clock = ManualClock(millisecondsSince1970: now * 1000)
        try await ScriptedServer.run(key: serverKey) { server in
            var configuration = GoogleEmulatorConfiguration(
                clientID: "google", clientSecret: "a-secret-for-google-alone", scopes: ["devices"])
            configuration.key = googleKey
            configuration.apiKey = "siwa_key_of_the_backend"
            configuration.server = LinkedServer(issuer: server.issuer)
            configuration.appleURL = server.issuer
            change(&configuration)
            let service = try await GoogleEmulatorService(
                configuration: configuration,
                clock: EmulatorClock(
                    now: { clock.millisecondsSince1970 },
                    sleep: { try await clock.sleep(untilMilliseconds: clock.millisecondsSince1970 + $0) }),
                logger: .silent)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await service.run() }
                defer { group.cancelAll() }
                try await body(
                    GoogleUnderTest(
                        service: service, server: server, port: try await service.port(), clock: clock))
            }
        }
    }

    struct Response {
        let status: Int
        let headers: HTTPHeaders
        let text: String

        var json: JSONValue? {
            try? JSONValue(parsing: Array(text.utf8), limits: JSONLimits(depth: 16, members: 256))
        }
    }

    func get(_ path: String, headers: HTTPHeaders = [:]) async throws -> Response {
        try await send(.GET, path, headers: headers)
    }

    func control(_ path: String, _ body: String = "{}", method: HTTPMethod = .POST) async throws -> Response {
        try await send(method, "/control/\(path)", body: body)
    }

    func send(
        _ method: HTTPMethod, _ path: String, headers: HTTPHeaders = [:], body: String? = nil
    ) async throws -> Response {
        var request = HTTPClientRequest(
            url: path.hasPrefix("http") ? path : "http://127.0.0.1:\(port)\(path)")
        (request.method, request.headers) = (method, headers)
        if let body { request.body = .bytes(Array(body.utf8)) }
        let sent = request
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            let response = try await client.execute(sent, timeout: .seconds(30))
            let body = try await response.body.collect(upTo: 1 << 20)
            return Response(
                status: Int(response.status.code), headers: response.headers, text: String(buffer: body))
        }
    }

    /// Begins a link, and returns its state and redirect URI.
    func begin(_ members: String = "{}") async throws -> (url: String, state: String, redirectURI: String) {
        let json = try await control("link", members).json
        return (json?["url"]?.string ?? "", json?["state"]?.string ?? "", json?["redirect_uri"]?.string ?? "")
    }

    /// Makes a link in the browser: the redirect has a code.
    func link() async throws {
        let begun = try await begin()
        _ = try await get("\(begun.redirectURI)?code=a-code-of-the-server&state=\(begun.state)")
    }

    /// Posts a form of the page as a browser does, with the token of the page.
    func submit(_ path: String, _ fields: [(name: String, value: String)], from page: String = "/")
        async throws -> Response
    {
        let html = try await get(page).text
        let mark = "name=\"token\" value=\""
        let token = html.firstRange(of: mark).map { html[$0.upperBound...].prefix { $0 != "\"" } } ?? ""
        return try await send(
            .POST, path,
            headers: [
                "Content-Type": "application/x-www-form-urlencoded", "Origin": "http://127.0.0.1:\(port)",
            ], body: FormEncoding.encode(fields + [("token", String(token))]))
    }

    static func parameter(_ name: String, of url: String) -> String? {
        FormEncoding.decode(url.drop { $0 != "?" }.dropFirst().utf8)?.first { $0.name == name }?.value
    }
}

extension Trait where Self == TestScope<GoogleUnderTest> {
    static func google(_ change: @escaping @Sendable (inout GoogleEmulatorConfiguration) -> Void = { _ in })
        -> Self
    { Self { try await GoogleUnderTest.run(change, $0) } }
}

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

    static func run(key: GoogleKey, _ body: @Sendable (ScriptedServer) async throws -> Void) async throws {
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
        case "/oauth/introspect": return Self.json(JSONObject([("active", true)]))
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
            ("access_token", .string("access-token-number-\(number)")), ("token_type", "Bearer"),
            ("expires_in", 3600), ("refresh_token", .string("refresh-token-number-\(number)")),
            ("scope", "devices"),
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
