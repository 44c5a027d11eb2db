import AsyncHTTPClient
import Cryptography
import EmulatorServer
import Encodings
import Foundation
import JOSE
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import ReceiverEmulator
import ScriptedHTTP
import StrictJSON
import TestSupport
import Testing

/// Running receivers, a service with a key, and a client for the receivers' socket.
struct ReceiverUnderTest: Sendable {
    /// The receivers of the running test, by the trait `receivers`.
    static var current: ReceiverUnderTest { TestScope.current }

    static let now: Int64 = 1_800_000_000
    static let key = Array("0123456789abcdef0123456789abcdef".utf8)
    static let secret = "whsec_\(Base64.encode(key))"
    static let audience = "backend"

    let service: ReceiverEmulatorService
    let port: Int
    let securePort: Int
    let clock: ManualClock
    /// Publishes `signingKey`.
    let publisher: ScriptedServer
    let signingKey: TokenSigningKey
    /// The authority of the certificate at `securePort`.
    let authority: String?

    var state: ReceiverState { service.state }
    var issuer: String { publisher.baseURL }

    static func run(
        hasTLS: Bool = false, _ body: @Sendable (ReceiverUnderTest) async throws -> Void
    ) async throws {
        let clock = ManualClock(millisecondsSince1970: now * 1000)
        let signingKey = try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
        let jwk = JSONValue.object(signingKey.verificationKey.jwk).serialized()
        let publisher = try await ScriptedServer(
            always: .json("{\"keys\":[\(String(decoding: jwk, as: UTF8.self))]}"))
        var configuration = ReceiverEmulatorConfiguration(secrets: [secret], audience: audience)
        // TLS clients use the system's clock.
        let time = Int64(Date().timeIntervalSince1970)
        if hasTLS { configuration.tls = try ReceiverTLS(names: ["127.0.0.1"], at: time) }
        let authority = configuration.tls?.authority
        let service = try ReceiverEmulatorService(
            configuration: configuration,
            clock: EmulatorClock(
                now: { clock.millisecondsSince1970 },
                sleep: { try await clock.sleep(untilMilliseconds: clock.millisecondsSince1970 + $0) }),
            logger: .silent)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            defer { group.cancelAll() }
            let port = try await service.port()
            let securePort = try await service.securePort() ?? 0
            var sender = EventSender(issuer: publisher.baseURL, keysURL: "\(publisher.baseURL)/jwks.json")
            sender.status = { ["webhook": "3 events <b>wait</b>"] }
            service.state.connect(
                to: sender,
                urls: [
                    .webhook: "http://127.0.0.1:\(port)/webhook",
                    .push: hasTLS
                        ? "https://127.0.0.1:\(securePort)/push" : "http://127.0.0.1:\(port)/push",
                ])
            try await body(
                ReceiverUnderTest(
                    service: service, port: port, securePort: securePort, clock: clock, publisher: publisher,
                    signingKey: signingKey, authority: authority))
        }
        try await publisher.close()
    }

    struct Response {
        let status: Int
        let headers: HTTPHeaders
        let text: String

        var json: JSONValue? {
            try? JSONValue(parsing: Array(text.utf8), limits: JSONLimits(depth: 16, members: 256))
        }
    }

    // Messages.

    /// An event in the form of the feed.
    static func event(
        _ id: String = "evt_1", type: String = "credential_revoked", account: String = "acc_1",
        recordedAt: Int64 = now * 1000 - 40
    ) -> String {
        let time = RFC3339.text(milliseconds: recordedAt)
        return #"{"id":"\#(id)","type":"\#(type)","account_id":"\#(account)","recorded_at":"\#(time)"}"#
    }

    static func signature(_ id: String, _ timestamp: Int64, _ body: String, key: [UInt8] = key) -> String {
        "v1," + Base64.encode(HMACSHA256(key: key).code(for: Array("\(id).\(timestamp).\(body)".utf8)))
    }

    /// Posts a webhook that passes every check.
    func postWebhook(
        _ body: String = event(), id: String = "evt_1", _ change: (inout HTTPHeaders) -> Void = { _ in }
    ) async throws -> Response {
        let timestamp = clock.millisecondsSince1970 / 1000
        var headers: HTTPHeaders = [
            "content-type": "application/json", "webhook-id": id, "webhook-timestamp": "\(timestamp)",
            "webhook-signature": Self.signature(id, timestamp, body),
        ]
        change(&headers)
        return try await send(.POST, "/webhook", headers: headers, body: body)
    }

    /// The claims of a token that passes every check.
    var claims: JSONObject {
        let event = try? JSONValue(parsing: Array(Self.event().utf8))
        let content = JSONValue.object(JSONObject([("siwa_event", event ?? .null)]))
        return JSONObject([
            ("iss", .string(issuer)), ("aud", .string(Self.audience)), ("iat", .integer(Self.now)),
            ("jti", "evt_1"), ("sub_id", ["format": "opaque", "id": "acc_1"]),
            ("events", ["https://schemas.openid.net/a": content]),
        ])
    }

    /// Signs a token with `signingKey`, also one that passes no check.
    func token(
        _ changeHeader: (inout JSONObject) -> Void = { _ in },
        _ changeClaims: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        var header = JSONObject([
            ("alg", "ES256"), ("typ", "secevent+jwt"), ("kid", .string(signingKey.keyID)),
        ])
        var claims = claims
        changeHeader(&header)
        changeClaims(&claims)
        var segments = JWSSegments(
            header: JSONValue.object(header).serialized(), payload: JSONValue.object(claims).serialized())
        segments.signature = try signingKey.signature(for: segments.signingInput)
        return segments.compact
    }

    func push(_ token: String, type: String = "application/secevent+jwt") async throws -> Response {
        try await send(.POST, "/push", headers: ["content-type": type], body: token)
    }

    /// Pushes a token that passes every check.
    func pushGood() async throws -> Response { try await push(try token()) }

    // The page and the control API.

    func get(_ path: String, headers: HTTPHeaders = [:]) async throws -> Response {
        try await send(.GET, path, headers: headers)
    }

    func control(_ method: HTTPMethod, _ path: String, _ body: String? = nil) async throws -> Response {
        try await send(method, "/control/\(path)", body: body)
    }

    func send(
        _ method: HTTPMethod, _ path: String, headers: HTTPHeaders = [:], body: String? = nil
    ) async throws -> Response {
        var request = HTTPClientRequest(
            url: path.hasPrefix("http") ? path : "http://127.0.0.1:\(port)\(path)")
        (request.method, request.headers) = (method, headers)
        if let body { request.body = .bytes(Array(body.utf8)) }
        return try await Self.execute(request)
    }

    static func execute(
        _ request: HTTPClientRequest, trusting authority: String? = nil
    ) async throws -> Response {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.connectionPool.retryConnectionEstablishment = false
        if let authority {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(authority.utf8)))
            configuration.tlsConfiguration = tls
        }
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            let response = try await client.execute(request, timeout: .seconds(30))
            let body = try await response.body.collect(upTo: 4 << 20)
            return Response(
                status: Int(response.status.code), headers: response.headers, text: String(buffer: body))
        }
    }

    /// Posts a form of the page as a browser does, with the token of the page.
    func submit(_ path: String, _ fields: [(name: String, value: String)]) async throws -> Response {
        let html = try await get("/").text
        let mark = "name=\"token\" value=\""
        let token = html.firstRange(of: mark).map { html[$0.upperBound...].prefix { $0 != "\"" } } ?? ""
        return try await send(
            .POST, path,
            headers: [
                "Content-Type": "application/x-www-form-urlencoded", "Origin": "http://127.0.0.1:\(port)",
            ], body: FormEncoding.encode(fields + [("token", String(token))]))
    }
}

extension Trait where Self == TestScope<ReceiverUnderTest> {
    static func receivers(hasTLS: Bool = false) -> Self {
        Self { try await ReceiverUnderTest.run(hasTLS: hasTLS, $0) }
    }
}
