import AsyncHTTPClient
import EmulatorServer
import Encodings
import GoogleEmulator
import JOSE
import Logging
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport

/// A running fake Google, its linked scripted server, and a client for the fake Google's socket.
struct GoogleUnderTest: Sendable {
    static let now: Int64 = 1_800_000_000

    let service: GoogleEmulatorService
    let server: ScriptedServer
    let port: Int
    let clock: ManualClock

    private static let keys = Task { (try GoogleKey.generate(), try GoogleKey.generate()) }

    static func run(
        _ change: @escaping @Sendable (inout GoogleEmulatorConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (GoogleUnderTest) async throws -> Void
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
        return (
            json?["url"]?.string ?? "", json?["state"]?.string ?? "", json?["redirect_uri"]?.string ?? ""
        )
    }

    /// Makes a link in the browser: the redirect has a code.
    func link() async throws {
        let begun = try await begin()
        _ = try await get("\(begun.redirectURI)?code=a-code-of-the-server&state=\(begun.state)")
    }

    /// Posts a form of the page as a browser does, with the token of the page.
    func submit(_ path: String, _ fields: [(name: String, value: String)], from page: String = "/")
        async throws
        -> Response
    {
        let html = try await get(page).text
        let mark = "name=\"token\" value=\""
        let token = html.firstRange(of: mark).map { html[$0.upperBound...].prefix { $0 != "\"" } } ?? ""
        return try await send(
            .POST, path,
            headers: [
                "Content-Type": "application/x-www-form-urlencoded", "Origin": "http://127.0.0.1:\(port)",
            ],
            body: FormEncoding.encode(fields + [("token", String(token))]))
    }

    static func parameter(_ name: String, of url: String) -> String? {
        FormEncoding.decode(url.drop { $0 != "?" }.dropFirst().utf8)?.first { $0.name == name }?.value
    }
}
