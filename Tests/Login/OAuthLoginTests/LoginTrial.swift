import AsyncHTTPClient
import Encodings
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization
import TestSupport

@testable import OAuthLogin

/// A call of `siwa login` against a scripted server, with a browser played by the test.
struct LoginTrial {
    static let now: Int64 = 1_800_000_000

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
        try await run {
            try await $0.signIn()
        } browser: {
            browser
        }
    }

    func signOut() async throws -> Outcome {
        try await run {
            try await $0.signOut()
        } browser: {
            nil
        }
    }

    private func run(
        _ call: @escaping @Sendable (LoginFlow) async throws -> Void, browser: () -> Browser?
    ) async throws -> Outcome {
        let said = Mutex<[String]>([])
        let (urls, continuation) = AsyncStream<String>.makeStream()
        let browser = browser()
        let file = try file
        let (issuer, client) = (
            try IssuerURL(server.issuer), try ClientCredentials(id: clientID, secret: secret)
        )
        let (usesDevice, clock) = (usesDevice, clock)
        let (scope, path, limits) = (
            try RequestedScope(scope), redirectPath, (response: responseLimit, transport: transportLimit)
        )
        let error: LoginError? = try await HTTPClient.withHTTPClient(
            configuration: LoginTransport.configuration
        ) { http in
            let flow = LoginFlow(
                issuer: issuer, client: client, scope: scope, redirectPath: path, file: file,
                transport: LoginTransport(client: http, limit: limits.transport), now: { Self.now },
                openBrowser: {
                    continuation.yield($0)
                    return true
                }, say: { text in said.withLock { $0.append(text) } }, responseLimit: limits.response,
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
                } catch let error as LoginError {
                    return error
                }
            }
        }
        return Outcome(
            error: error, said: said.withLock { $0.joined(separator: "\n") }, tokens: try file.read())
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
        return Page(
            status: Int(response.status.code), headers: response.headers, text: String(buffer: body))
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
