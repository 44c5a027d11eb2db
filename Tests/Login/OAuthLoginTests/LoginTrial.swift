import AsyncHTTPClient
import Cryptography
import Encodings
import Foundation
import HTTPTypes
import Hummingbird
import JOSE
import NIOCore
import NIOHTTP1
import ScriptedHTTP
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import OAuthLogin

/// A call of `siwa login` against a scripted server, with a browser played by the test.
struct LoginTrial: Sendable {
    static let now: Int64 = 1_800_000_000

    /// The call of the running test, by the trait `trial`.
    static var current: LoginTrial { TestScope.current }

    /// Function that plays the browser, with the authorization URL.
    typealias Browser = @Sendable (TestBrowser, String) async throws -> Void

    let directory: TemporaryDirectory
    let server: ScriptedAuthorizationServer
    var clientID = ScriptedAuthorizationServer.clientID
    var secret: String?
    var scope = ["openid email"]
    var redirectPath = ""
    var responseLimit = Duration.seconds(30)
    var transportLimit = Duration.seconds(20)
    var usesDevice = false
    /// Does not wait, and counts the pauses.
    let clock = HurriedClock()

    struct Outcome {
        let error: LoginError?
        let said: String
        let tokens: KeptTokens?
    }

    var file: TokenFile {
        get throws {
            try TokenFile(
                environment: ["XDG_STATE_HOME": directory.path], issuer: try IssuerURL(server.issuer),
                clientID: clientID)
        }
    }

    /// - Parameter browser: Runs at the same time as the call, and is cancelled at its end.
    func signIn(_ browser: @escaping Browser = { try await $0.signIn($1) }) async throws -> Outcome {
        try await run(browser) { try await $0.signIn() }
    }

    func signOut() async throws -> Outcome {
        try await run(nil) { try await $0.signOut() }
    }

    private func run(
        _ browser: Browser?, _ call: @escaping @Sendable (LoginFlow) async throws -> Void
    ) async throws -> Outcome {
        let said = Mutex<[String]>([])
        let (urls, continuation) = AsyncStream<String>.makeStream()
        let file = try file
        let error: LoginError? = try await HTTPClient.withHTTPClient(
            configuration: LoginTransport.configuration
        ) { http in
            let flow = LoginFlow(
                issuer: try IssuerURL(server.issuer),
                client: try ClientCredentials(id: clientID, secret: secret), scope: try RequestedScope(scope),
                redirectPath: redirectPath, file: file,
                transport: LoginTransport(client: http, limit: transportLimit), now: { Self.now },
                openBrowser: {
                    continuation.yield($0)
                    return true
                }, say: { text in said.withLock { $0.append(text) } }, responseLimit: responseLimit,
                usesDevice: usesDevice, clock: clock)
            return try await withThrowingTaskGroup(of: Void.self) { group in
                if let browser {
                    group.addTask {
                        for await url in urls { try await browser(TestBrowser(client: http), url) }
                    }
                }
                defer { continuation.finish() }
                do {
                    try await call(flow)
                    return nil
                } catch let error as LoginError { return error }
            }
        }
        return Outcome(
            error: error, said: said.withLock { $0.joined(separator: "\n") }, tokens: try file.read())
    }
}

extension Trait where Self == TestScope<LoginTrial> {
    static var trial: Self {
        Self { body in
            try await ScriptedAuthorizationServer.run { server in
                try await TemporaryDirectory.with { directory in
                    try await body(LoginTrial(directory: directory, server: server))
                }
            }
        }
    }
}

/// Sends the requests of a browser, or of another program on this machine.
struct TestBrowser: Sendable {
    let client: HTTPClient

    struct Page {
        let status: Int
        let headers: HTTPHeaders
        let text: String
    }

    /// Opens the authorization URL, and follows the redirect to the loopback address.
    @discardableResult
    func signIn(_ url: String) async throws -> Page {
        let redirect = try await get(url)
        return try await get(redirect.headers.first(name: "Location") ?? "")
    }

    func get(_ url: String, method: HTTPMethod = .GET, host: String? = nil) async throws -> Page {
        var request = HTTPClientRequest(url: url)
        request.method = method
        if let host { request.headers.add(name: "Host", value: host) }
        let response = try await client.execute(request, timeout: .seconds(20))
        let body = try await response.body.collect(upTo: 1 << 20)
        return Page(status: Int(response.status.code), headers: response.headers, text: String(buffer: body))
    }

    /// A parameter of an authorization URL.
    static func parameter(_ name: String, of url: String) -> String {
        let query = url.drop { $0 != "?" }.dropFirst()
        return FormEncoding.decode(query.utf8)?.first { $0.name == name }?.value ?? ""
    }

    /// Calls the loopback address of an authorization URL with these parameters.
    @discardableResult
    func response(_ url: String, _ fields: [(name: String, value: String)]) async throws -> Page {
        let target = Self.parameter("redirect_uri", of: url)
        return try await get("\(target)?\(FormEncoding.encode(fields))")
    }
}

/// An authorization server on a real socket, whose endpoints a test can replace.
final class ScriptedAuthorizationServer: Sendable {
    struct Received: Sendable {
        let path: String
        let fields: [String: String]
        let authorization: String?
    }

    typealias Endpoint = @Sendable (Received) async throws -> Response

    static let subject = "acc_0198c2d4-0000-7000-8000-000000000001"
    static let clientID = "desktop"

    let issuer: String
    let key: ECPrivateKey
    private let state = Mutex(
        (endpoints: [String: Endpoint](), received: [Received](), challenge: "", nonce: ""))

    private init(port: Int, key: ECPrivateKey) {
        (issuer, self.key) = ("http://127.0.0.1:\(port)", key)
    }

    var received: [Received] { state.withLock { $0.received } }
    func received(_ path: String) -> [Received] { received.filter { $0.path == path } }

    /// Replaces an endpoint.
    func replace(_ path: String, with endpoint: @escaping Endpoint) {
        state.withLock { $0.endpoints[path] = endpoint }
    }

    static func run(_ body: @Sendable (ScriptedAuthorizationServer) async throws -> Void) async throws {
        try await LoopbackServer.run(
            make: { ScriptedAuthorizationServer(port: $0, key: try ECPrivateKey.generate()) },
            respond: { try await $0.respond(to: $1) }, body)
    }

    private func respond(to request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: 1 << 20)
        let text = request.method == .get ? Array((request.uri.query ?? "").utf8) : Array(buffer: body)
        let fields = FormEncoding.decode(text) ?? []
        let received = Received(
            path: request.uri.path,
            fields: Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }),
            authorization: request.headers[.authorization])
        let endpoint = state.withLock { state in
            state.received.append(received)
            return state.endpoints[received.path]
        }
        if let endpoint { return try await endpoint(received) }
        return try usualAnswer(to: received)
    }

    private func usualAnswer(to request: Received) throws -> Response {
        switch request.path {
        case "/.well-known/oauth-authorization-server": return Self.json(metadata())
        case "/jwks.json":
            return Self.json(JSONObject([("keys", .array([.object(key.publicKey.jwk(keyID: "k1"))]))]))
        case "/authorize":
            state.withLock { state in
                state.challenge = request.fields["code_challenge"] ?? ""
                state.nonce = request.fields["nonce"] ?? ""
            }
            let query = FormEncoding.encode([
                ("code", "c0de"), ("state", request.fields["state"] ?? ""), ("iss", issuer),
            ])
            return Response(
                status: .seeOther, headers: [.location: "\(request.fields["redirect_uri"] ?? "")?\(query)"])
        case "/token": return try token(request)
        case "/revoke": return Response(status: .ok)
        default: return Response(status: .notFound)
        }
    }

    private func token(_ request: Received) throws -> Response {
        let challenge = state.withLock { $0.challenge }
        if request.fields["grant_type"] == "authorization_code" {
            let proof = Base64URL.encode(SHA256Digest.hash(request.fields["code_verifier"] ?? ""))
            guard request.fields["code"] == "c0de", proof == challenge else {
                return Self.json(JSONObject([("error", "invalid_grant")]), status: .badRequest)
            }
        }
        let count = received("/token").count
        var json = tokens(count)
        json["id_token"] = .string(try idToken())
        return Self.json(json)
    }

    func tokens(_ number: Int) -> JSONObject {
        JSONObject([
            ("access_token", .string("access-\(number)")), ("token_type", "Bearer"), ("expires_in", 3600),
            ("refresh_token", .string("refresh-\(number)")), ("scope", "openid email"),
        ])
    }

    func metadata(_ changes: [String: JSONValue?] = [:]) -> JSONObject {
        var json = JSONObject([
            ("issuer", .string(issuer)), ("authorization_endpoint", .string("\(issuer)/authorize")),
            ("token_endpoint", .string("\(issuer)/token")),
            ("revocation_endpoint", .string("\(issuer)/revoke")),
            ("jwks_uri", .string("\(issuer)/jwks.json")),
            ("authorization_response_iss_parameter_supported", true),
            ("code_challenge_methods_supported", .array(["S256"])),
            ("token_endpoint_auth_methods_supported", .array(["client_secret_post", "none"])),
        ])
        for (name, value) in changes { json[name] = value }
        return json
    }

    /// Makes an ID token with the nonce of the last authorization request.
    func idToken(_ changes: [String: JSONValue?] = [:], key other: ECPrivateKey? = nil) throws -> String {
        let now = Int64(LoginTrial.now)
        var claims = JSONObject([
            ("iss", .string(issuer)), ("sub", .string(Self.subject)), ("aud", .string(Self.clientID)),
            ("exp", .integer(now + 600)), ("iat", .integer(now)),
            ("nonce", .string(state.withLock { $0.nonce })),
        ])
        for (name, value) in changes { claims[name] = value }
        return try JWTSigner.sign(claims: claims, keyID: "k1", algorithm: .ES256, key: (other ?? key).pem)
    }

    static func json(_ object: JSONObject, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: JSONValue.object(object).serialized())))
    }
}
