import AppleEmulator
import AsyncHTTPClient
import Encodings
import HTTPTypes
import JOSE
import Logging
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// A running emulator, and a client for its socket.
struct EmulatorUnderTest: Sendable {
    /// The emulator of the running test, by the trait `apple`.
    static var current: EmulatorUnderTest { TestScope.current }

    static let teamID = "TEAM000001"
    static let clientID = "com.example.app"

    let emulator: EmulatedApple
    let clock: TestClock
    let port: Int

    /// Runs an emulator on a free port during `body`.
    static func run(
        configure: (inout EmulatorConfiguration) throws -> Void = { _ in },
        _ body: (EmulatorUnderTest) async throws -> Void
    ) async throws {
        var configuration = try EmulatorConfiguration(
            teamID: teamID, clientIDs: [clientID, "com.example.app.web"])
        configuration.keys = try await TestKeys.keys()
        configuration.clientKeys = [try TestKeys.clientKey]
        try configure(&configuration)
        let clock = TestClock()
        let emulator = try await EmulatedApple(
            configuration: configuration, clock: clock.emulatorClock, logger: .silent)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await emulator.run() }
            defer { group.cancelAll() }
            try await body(
                EmulatorUnderTest(emulator: emulator, clock: clock, port: try await emulator.port()))
        }
    }

    func get(_ path: String, headers: HTTPHeaders = [:]) async throws -> ReceivedResponse {
        try await send(.GET, path, headers: headers)
    }

    func post(_ path: String, _ body: String = "{}") async throws -> ReceivedResponse {
        try await send(.POST, path, body: body)
    }

    func send(
        _ method: HTTPMethod, _ path: String, headers: HTTPHeaders = [:], body: String? = nil,
        followsRedirects: Bool = true
    ) async throws -> ReceivedResponse {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = method
        request.headers = headers
        if let body { request.body = .bytes(Array(body.utf8)) }
        if followsRedirects { return try await Self.answer(to: request, HTTPClient.shared) }
        let sent = request
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        return try await HTTPClient.withHTTPClient(configuration: configuration) { client in
            try await Self.answer(to: sent, client)
        }
    }

    private static func answer(to request: HTTPClientRequest, _ client: HTTPClient) async throws
        -> ReceivedResponse
    {
        let response = try await client.execute(request, timeout: .seconds(60))
        let received = try await response.body.collect(upTo: 1 << 20)
        return ReceivedResponse(
            status: Int(response.status.code), headers: response.headers,
            body: Array(received.readableBytesView))
    }

    /// Mints a token with these members and parses it.
    func mint(_ members: String = "{}") async throws -> ReadToken {
        let answer = try await post("/emulator/identity-tokens?format=text", members)
        return try ReadToken(answer.text)
    }

    func notify(_ members: String) async throws -> ReadToken {
        let answer = try await post("/emulator/notifications?format=text", members)
        return try ReadToken(answer.text)
    }

    func counter(_ name: String) async throws -> Int64? {
        try await get("/emulator/counters").json[name]?.integer
    }

    /// The key IDs of the key set, in the order of the response.
    func publishedKeyIDs() async throws -> [String] {
        try await get("/auth/keys").json["keys"]?.array?.compactMap { $0["kid"]?.string } ?? []
    }

    /// True if the signature is valid under the published key that the header names.
    func isValid(_ token: ReadToken) async throws -> Bool {
        let keys = try await get("/auth/keys").json["keys"]?.array ?? []
        guard let key = keys.first(where: { $0["kid"]?.string == token.header["kid"]?.string }) else {
            return false
        }
        return try token.isSigned(by: key)
    }
}

extension Trait where Self == TestScope<EmulatorUnderTest> {
    static func apple(
        _ configure: @escaping @Sendable (inout EmulatorConfiguration) throws -> Void = { _ in },
        before prepare: @escaping @Sendable (EmulatorUnderTest) async throws -> Void = { _ in }
    ) -> Self {
        Self { body in
            try await EmulatorUnderTest.run(configure: configure) { apple in
                try await prepare(apple)
                try await body(apple)
            }
        }
    }

    static var appleWithRedirectURIs: Self {
        .apple { $0.apps[0].redirectURIs = [EmulatorUnderTest.redirectURI, "http://localhost:3000/back"] }
    }

    /// A receiver of notifications beside the emulator, as `TestScope.current`.
    ///
    /// - Parameter isConfigured: True if the emulator posts its notifications there.
    static func appleAndReceiver(
        answering status: HTTPResponse.Status = .ok, times: Int = .max, isConfigured: Bool = true
    ) -> Self {
        Self { body in
            try await ReceivingServer.run(answering: status, times: times) { receiver in
                try await EmulatorUnderTest.run {
                    if isConfigured { $0.notificationURL = receiver.url }
                } _: { apple in
                    try await TestScope.provide(receiver) { try await body(apple) }
                }
            }
        }
    }
}

/// The requests of a service to Apple.
extension EmulatorUnderTest {
    /// A valid client secret, signed by the registered key.
    func clientSecret(_ recipe: ClientSecretRecipe = ClientSecretRecipe()) throws -> String {
        try emulator.state.sign(recipe)
    }

    /// Posts a form with the client ID and a valid secret, both of which `fields` can replace; "" leaves a
    /// field out.
    func call(
        _ path: String, _ fields: [String: String], headers: HTTPHeaders = [:]
    ) async throws -> ReceivedResponse {
        var all = ["client_id": Self.clientID]
        for (name, value) in fields { all[name] = value }
        if all["client_secret"] == nil {
            var recipe = ClientSecretRecipe()
            recipe.clientID = all["client_id"]
            all["client_secret"] = try clientSecret(recipe)
        }
        return try await postForm(
            path, all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, headers: headers)
    }

    func postForm(
        _ path: String, _ fields: [(String, String)], headers: HTTPHeaders = [:],
        followsRedirects: Bool = true
    ) async throws -> ReceivedResponse {
        let body = fields.filter { !$0.1.isEmpty }.map { "\(Self.escape($0.0))=\(Self.escape($0.1))" }
        var headers = headers
        headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        return try await send(
            .POST, path, headers: headers, body: body.joined(separator: "&"),
            followsRedirects: followsRedirects)
    }

    /// A fresh code of the default user.
    func code(_ members: String = #"{"code":true}"#) async throws -> String {
        let response = try await post("/emulator/identity-tokens", members).json
        return try #require(response["authorization_code"]?.string)
    }

    func exchange(_ code: String, _ fields: [String: String] = [:]) async throws -> ReceivedResponse {
        var all = ["grant_type": "authorization_code", "code": code]
        for (name, value) in fields { all[name] = value }
        return try await call("/auth/token", all)
    }

    func refresh(_ token: String, _ fields: [String: String] = [:]) async throws -> ReceivedResponse {
        var all = ["grant_type": "refresh_token", "refresh_token": token]
        for (name, value) in fields { all[name] = value }
        return try await call("/auth/token", all)
    }

    func revoke(_ token: String, clientID: String = clientID) async throws -> ReceivedResponse {
        try await call("/auth/revoke", ["token": token, "client_id": clientID])
    }

    /// The refresh token of a new sign-in.
    func refreshToken(_ members: String = #"{"code":true}"#, clientID: String = clientID) async throws
        -> String
    {
        let response = try await exchange(code(members), ["client_id": clientID])
        return try #require(response.json["refresh_token"]?.string)
    }

    static func escape(_ text: String) -> String {
        text.utf8.map { byte in
            switch UInt8(byte) {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                String(UnicodeScalar(byte))
            default: "%" + Hexadecimal.encode([byte]).uppercased()
            }
        }.joined()
    }
}

extension ReceivedResponse {
    /// The code of an OAuth error.
    var error: String? { (try? json)?["error"]?.string }
}

/// The requests of a browser to the authorization endpoint.
extension EmulatorUnderTest {
    static let redirectURI = "https://app.example.com/callback?from=apple"

    /// All parameters of a valid request; "" leaves a parameter out.
    static func authorizeQuery(_ changes: [String: String] = [:]) -> String {
        var all = [
            "client_id": "com.example.app.web", "redirect_uri": redirectURI, "response_type": "code id_token",
            "response_mode": "form_post", "scope": "name email", "state": "s-1", "nonce": "n-1",
        ]
        for (name, value) in changes { all[name] = value }
        return "/auth/authorize?"
            + all.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(escape($0.value))" }.joined(separator: "&")
    }

    /// Opens the page and returns the name that its forms send back.
    func openPage(_ changes: [String: String] = [:]) async throws -> String {
        let response = try await get(Self.authorizeQuery(changes))
        #expect(response.status == 200)
        return try #require(response.field("page"))
    }

    func press(_ page: String, _ fields: [(String, String)]) async throws -> ReceivedResponse {
        try await postForm("/auth/authorize", [("page", page)] + fields, followsRedirects: false)
    }
}

/// The response of an HTTP server.
struct ReceivedResponse {
    let status: Int
    let headers: HTTPHeaders
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as strict JSON.
    var json: JSONValue {
        get throws { try JSONValue(parsing: body, limits: JSONLimits(depth: 16, members: 128)) }
    }

    var code: String? { (try? json)?["code"]?.string }
}

extension ReceivedResponse {
    /// The accounts on the page, in its order.
    var choices: [String] {
        text.split(separator: "name=\"choose\" value=\"").dropFirst().map { part in
            String(part.prefix { $0 != "\"" })
        }
    }

    /// The value of a field in a page's form, unescaped.
    func field(_ name: String) -> String? {
        guard let start = text.firstRange(of: "name=\"\(name)\""),
            let tag = text[start.upperBound...].firstIndex(of: ">")
        else { return nil }
        let rest = text[start.upperBound..<tag]
        guard let value = rest.firstRange(of: "value=\""),
            let end = rest[value.upperBound...].firstIndex(of: "\"")
        else { return nil }
        return rest[value.upperBound..<end].htmlUnescaped
    }
}
