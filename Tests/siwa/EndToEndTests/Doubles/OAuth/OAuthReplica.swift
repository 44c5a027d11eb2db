import AsyncHTTPClient
import Encodings
import NIOCore
import NIOHTTP1
import StrictJSON
import Synchronization

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

/// The requests of Google and the app's backend in App Flip, which needs no browser.
extension OAuthReplica {
    /// Identity of the user who agreed in the app.
    enum Identity: Sendable {
        case token(String)
        case account(String)

        fileprivate var member: (String, JSONValue) {
            switch self {
            case .token(let token): ("identity_token", .string(token))
            case .account(let id): ("account_id", .string(id))
            }
        }
    }

    struct Link: Sendable {
        let accessToken: String
        let refreshToken: String
    }

    /// Gets the code that the app passes to Google.
    func flip(_ identity: Identity) async throws -> String {
        let response = try await flipAnswer(identity)
        guard response["outcome"]?.string == "code",
            let code = Self.parameter("code", of: response["redirect_to"]?.string)
        else { throw NoCode(description: "App Flip: \(response.status) \(response.text)") }
        return code
    }

    func flipAnswer(_ identity: Identity) async throws -> Backend.Response {
        try await backend.post(
            "/v1/oauth/app-flip",
            [
                ("client_id", .string(LinkedClients.google)), ("decision", .string("granted")),
                ("redirect_uri", .string(LinkedClients.appFlipURI)), ("state", .string("s-1")),
                ("scope", .string(LinkedClients.googleScopes.joined(separator: " "))), identity.member,
            ])
    }

    struct NoCode: Error, CustomStringConvertible {
        let description: String
    }

    static func parameter(_ name: String, of url: String?) -> String? {
        guard let url, let query = url.split(separator: "?", maxSplits: 1).dropFirst().first else {
            return nil
        }
        return FormEncoding.decode(query.utf8)?.first { $0.name == name }?.value
    }

    /// Redeems a code as Google.
    func redeem(_ code: String) async throws -> Response {
        try await token(
            Self.googleCredentials + [
                ("grant_type", "authorization_code"), ("code", code),
                ("redirect_uri", LinkedClients.appFlipURI),
            ])
    }

    /// Refreshes as Google, which does not rotate the token.
    func refresh(_ refreshToken: String) async throws -> Response {
        try await token(
            Self.googleCredentials + [("grant_type", "refresh_token"), ("refresh_token", refreshToken)])
    }

    func revoke(_ token: String) async throws -> Response {
        try await post("/oauth/revoke", Self.googleCredentials + [("token", token)])
    }

    static let googleCredentials: Fields = [
        ("client_id", LinkedClients.google), ("client_secret", LinkedClients.googleSecret),
    ]

    /// Makes a new link from an identity token.
    func link(_ identity: Identity) async throws -> Link {
        try await Self.link(of: redeem(flip(identity)))
    }

    static func link(of response: Response) throws -> Link {
        guard response.status == 200, let access = response["access_token"],
            let refresh = response["refresh_token"]
        else { throw Unexpected("token request", response) }
        return Link(accessToken: access, refreshToken: refresh)
    }
}

/// The requests of a native app after it has received its code.
extension OAuthReplica {
    static let phoneVerifier = "a-verifier-of-the-phone-with-at-least-43-characters"

    func redeem(_ code: String, phone: String) async throws -> Response {
        try await token([
            ("grant_type", "authorization_code"), ("client_id", phone), ("code", code),
            ("redirect_uri", LinkedClients.phoneURI), ("code_verifier", Self.phoneVerifier),
        ])
    }

    /// Refreshes, which rotates the refresh token.
    func refresh(_ refreshToken: String, phone: String) async throws -> Response {
        try await token([
            ("grant_type", "refresh_token"), ("client_id", phone), ("refresh_token", refreshToken),
        ])
    }
}

/// The requests of the app's backend about grants.
extension OAuthReplica {
    func grants(of account: String) async throws -> [JSONValue] {
        try await backend.get("/v1/accounts/\(account)/grants")["grants"]?.array ?? []
    }

    /// Ends a grant, as the user does in the app.
    func unlink(_ grant: JSONValue, of account: String) async throws -> Backend.Response {
        try await backend.delete("/v1/accounts/\(account)/grants/\(grant["id"]?.string ?? "")")
    }
}

/// The replicas of a `LinkedSystem`, some of which are down.
final class ReplicaSet: Sendable {
    private let system: LinkedSystem
    private let running: Mutex<[OAuthReplica?]>

    init(_ system: LinkedSystem, count: Int) async throws {
        self.system = system
        var replicas: [OAuthReplica?] = []
        for number in 0..<count { replicas.append(try await system.serve(number)) }
        running = Mutex(replicas)
    }

    /// The running replicas, in any order.
    var all: [OAuthReplica] { running.withLock { $0.compactMap { $0 } }.shuffled() }

    func kill(_ number: Int) async {
        let replica = running.withLock { replicas in
            defer { replicas[number] = nil }
            return replicas[number]
        }
        await replica?.service.kill()
    }

    func start(_ number: Int) async throws {
        let replica = try await system.serve(number)
        running.withLock { $0[number] = replica }
    }

    func stop() async -> [Int32] {
        await all.asyncMap { await $0.service.stop() }
    }
}
