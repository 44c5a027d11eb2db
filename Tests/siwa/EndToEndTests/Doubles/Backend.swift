import AsyncHTTPClient
import Encodings
import Foundation
import HTTPAPI
import NIOCore
import NIOHTTP1
public import StrictJSON
import Synchronization
import TokenMint

/// The HTTP client of all tests. It follows no redirect and repeats no lost request, and has enough connections
/// that no request of a race waits for another.
enum TestClient {
    typealias Fields = [(name: String, value: String)]
    typealias Members = [(String, JSONValue)]

    /// A whole response.
    struct Response: Sendable {
        let status: UInt
        let headers: HTTPHeaders
        let text: String
        /// `nil` for a body that is no JSON.
        let json: JSONValue?

        var code: String? { json?["code"]?.string }
        var error: String? { json?["error"]?.string }
        var location: String? { headers.first(name: "Location") }
        var retryAfter: String? { headers.first(name: "Retry-After") }
        /// The first cookie, as a browser returns it.
        var cookie: String? { headers.first(name: "Set-Cookie").map { String($0.prefix { $0 != ";" }) } }
        subscript(name: String) -> JSONValue? { json?[name] }
    }

    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        configuration.redirectConfiguration = .disallow
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()

    /// - Parameters:
    ///   - form, json, body: The body, in at most one of these forms.
    ///   - bearer: Credentials of the caller.
    static func send(
        _ method: HTTPMethod, _ url: String, headers: [(String, String)] = [], form: Fields? = nil,
        json: Members? = nil, body: [UInt8]? = nil, bearer: String? = nil, cookie: String? = nil,
        within limit: TimeAmount = .seconds(60)
    ) async throws -> Response {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers.add(contentsOf: HTTPHeaders(headers))
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        if let cookie { request.headers.add(name: "Cookie", value: cookie) }
        if let form {
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(Array(FormEncoding.encode(form).utf8))
        } else if let json {
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(JSONValue.object(JSONObject(json)).serialized())
        } else if let body {
            request.body = .bytes(body)
        }
        let response = try await client.execute(request, timeout: limit)
        let bytes = Array(try await response.body.collect(upTo: 1 << 24).readableBytesView)
        return Response(
            status: response.status.code, headers: response.headers,
            text: String(decoding: bytes, as: UTF8.self),
            json: try? JSONValue(parsing: bytes, limits: JSONLimits(depth: 16, members: 256)))
    }

    /// A parameter of the query of a URL.
    static func parameter(_ name: String, of url: String?) -> String? {
        let query = url?.split(separator: "?", maxSplits: 1).dropFirst().first
        return query.flatMap { FormEncoding.decode($0.utf8) }?.first { $0.name == name }?.value
    }
}

/// A mobile backend that calls the service, or another caller of an API on this machine.
struct Backend: Sendable {
    typealias Response = TestClient.Response
    typealias Members = TestClient.Members

    /// The API key of all services of tests.
    static let secret = "siwa_end_to_end"
    static let secretHash = "test=\(Hexadecimal.encode(APIKeySecret.hash(secret)))"

    let port: Int
    var secret = Self.secret

    func send(_ method: HTTPMethod, _ target: String, _ members: Members? = nil) async throws -> Response {
        try await TestClient.send(method, "http://127.0.0.1:\(port)\(target)", json: members, bearer: secret)
    }

    func get(_ target: String) async throws -> Response { try await send(.GET, target) }

    @discardableResult
    func post(_ target: String, _ members: Members = []) async throws -> Response {
        try await send(.POST, target, members)
    }

    func delete(_ target: String) async throws -> Response { try await send(.DELETE, target) }

    func signIn(_ token: String, _ more: Members = []) async throws -> Response {
        try await post("/v1/sign-ins", [("identity_token", .string(token))] + more)
    }

    func verify(_ token: String) async throws -> Response {
        try await post("/v1/identity-tokens/verify", [("identity_token", .string(token))])
    }

    @discardableResult
    func notify(_ payload: String) async throws -> Response {
        try await post("/v1/apple/notifications", [("payload", .string(payload))])
    }

    func credential(_ subject: String) async throws -> Response {
        try await get("/v1/credentials/\(subject)?client_id=\(WholeSystem.clientID)")
    }

    func account(_ subject: String) async throws -> Response {
        try await get("/v1/accounts?client_id=\(WholeSystem.clientID)&sub=\(subject)")
    }
}

/// Tokens and notifications of Apple for services that have the key set of the tests in a file.
enum Minted {
    private static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    static func token(_ subject: String, nonce: String? = nil) throws -> String {
        var claims = TokenMint.identityClaims(at: now / 1000 - 10)
        claims["sub"] = .string(subject)
        claims["email"] = .string("\(subject)@relay.example")
        if let nonce { claims["nonce"] = .string(nonce) }
        return try TokenMint.shared.sign(claims)
    }

    /// - Parameter step: Number of the notification, if there are several about the user.
    static func notification(
        _ subject: String, type: String = "consent-revoked", step: Int = 0
    ) throws -> String {
        let moment = now
        let event = JSONObject([
            ("type", .string(type)), ("sub", .string(subject)), ("email", "\(subject)@relay.example"),
            ("is_private_email", "true"), ("event_time", .integer(moment)),
        ])
        var claims = TokenMint.notificationClaims(at: moment / 1000, event: event)
        claims["jti"] = "jti-\(subject)-\(step)"
        return try TokenMint.shared.sign(claims)
    }
}

extension JSONValue: ExpressibleByStringInterpolation {
    var serializedText: String { String(decoding: serialized(), as: UTF8.self) }
}

/// State that the concurrent clients of a test share.
@dynamicMemberLookup final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>

    init(_ value: Value) { self.value = Mutex(value) }

    subscript<Member: Sendable>(dynamicMember path: KeyPath<Value, Member>) -> Member {
        value.withLock { $0[keyPath: path] }
    }

    @discardableResult
    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { value.withLock { body(&$0) } }
}

/// What clients under load were told, which must be true of every replica after a crash.
protocol Ledger: Sendable {
    /// True if no new work may begin.
    var isClosed: Bool { get set }
    /// Wrong responses.
    var contradictions: [String] { get set }
}

extension Shared where Value: Ledger {
    func close() { change { $0.isClosed = true } }
    func contradict(_ text: String) { change { $0.contradictions.append(text) } }
}
