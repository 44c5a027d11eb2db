import AsyncHTTPClient
import Cryptography
import Encodings
import Foundation
import HTTPAPI
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import Composition
@testable import siwa_dev

/// The console of the built program in production, on its own port.
@Suite(.serialized) struct ConsoleServerTests {
    private static let secret = "siwa_console_end_to_end"

    @Test func `operators sign in on the console's port, which has no call, and the interface has no page`()
        async throws
    {
        try await Self.with { service, console in
            let signIn = try await Self.send(.GET, "\(console)/console/settings")
            #expect(signIn.status == .seeOther)
            #expect(signIn.headers.first(name: "location") == "/console/sign-in?then=%2Fconsole%2Fsettings")
            let wrong = try await Self.send(.POST, "\(console)/console/sign-in", form: "key=siwa_end_to_end")
            #expect(wrong.status == .forbidden)
            let right = try await Self.send(
                .POST, "\(console)/console/sign-in", form: "key=\(Self.secret)&then=/console/settings")
            #expect(right.status == .seeOther)
            let cookie = try #require(right.headers.first(name: "set-cookie")).prefix { $0 != ";" }
            let page = try await Self.send(.GET, "\(console)/console/settings", cookie: String(cookie))
            #expect(page.status == .ok)
            #expect(
                page.headers.first(name: "content-security-policy")?.contains("default-src 'none'") == true)
            let text = String(buffer: try await page.body.collect(upTo: 1 << 20))
            #expect(text.contains("SIWA_CONSOLE_PORT") && text.contains("olga"))
            #expect(!text.contains(Self.secret))
            // What is not there outside of development is below the calls.
            let fakes = ["/console/world", "/console/world/exchanges", "/console/world/people/ada"]
            for path in ["/v1/events", "/health", "/metrics", "/openapi.yaml"] + fakes {
                #expect(try await Self.send(.GET, console + path, cookie: String(cookie)).status == .notFound)
            }
            for path in ["/", "/console", "/console/settings"] {
                #expect(try await Self.send(.GET, service + path, cookie: String(cookie)).status == .notFound)
            }
            let call = try await Self.send(.GET, "\(service)/v1/events", bearer: Self.secret)
            #expect(call.status == .unauthorized)
        }
    }

    @Test func `an operator signs in and out in a browser, on a page that is looked at like the others`()
        async throws
    {
        try await Self.with { _, console in
            try await TemporaryDirectory.with { directory in
                try await Browser.with(in: directory) { browser in
                    try await browser.open("\(console)/console/settings")
                    try await browser.type("siwa_wrong", into: "#key")
                    try await browser.press(key: "\u{E007}")
                    try await eventually { try await browser.shows("no API key of this service") }
                    for (width, isDark) in [(1280, false), (375, true), (320, false)] as [(Int64, Bool)] {
                        try await browser.show(width: width, isDark: isDark)
                        #expect(try await browser.consoleFaults() == [])
                        #expect(try await browser.axeViolations() == [])
                    }
                    try await browser.show(width: 1280)
                    try await browser.type(Self.secret, into: "#key")
                    try await browser.press(key: "\u{E007}")
                    // The page that was asked for.
                    try await eventually { try await browser.shows("SIWA_CONSOLE_PORT") }
                    #expect(try await browser.axeViolations() == [])
                    #expect(try await browser.evaluate("return document.cookie").string == "")
                    try await browser.press("Check again")
                    try await eventually { try await browser.shows("The checks run") }
                    try await browser.press("Sign out")
                    try await eventually { try await browser.shows("The console takes an API key") }
                    try await browser.open("\(console)/console/settings")
                    try await eventually { try await browser.shows("The console takes an API key") }
                    #expect(try await browser.refusals().filter { $0.contains("Policy") } == [])
                }
            }
        }
    }

    @Test func `a page that waits for changes does not delay the end of the service`() async throws {
        let clock = ContinuousClock()
        var stopsAt = clock.now
        try await Self.with { _, console in
            let right = try await Self.send(.POST, "\(console)/console/sign-in", form: "key=\(Self.secret)")
            let cookie = try #require(right.headers.first(name: "set-cookie")).prefix { $0 != ";" }
            let first = try await Self.send(.GET, "\(console)/console/live", cookie: String(cookie))
            #expect(first.headers.first(name: "content-type") == "text/event-stream")
            let text = String(buffer: try await first.body.collect(upTo: 1 << 16))
            let number = try #require(text.firstMatch(of: /id: (\d+)/)).1
            let known = "\(console)/console/live?after=\(number)"
            // They wait for 20 seconds where nothing happens.
            for _ in 0..<4 { Task { try await Self.send(.GET, known, cookie: String(cookie)) } }
            _ = try await Self.send(.GET, "\(console)/console/settings", cookie: String(cookie))
            stopsAt = clock.now
        }
        #expect(clock.now - stopsAt < .seconds(15))
    }

    private static func with(
        _ body: (_ service: String, _ console: String) async throws -> Void
    ) async throws {
        func hexadecimal(_ secret: String) -> String {
            Hexadecimal.encode(APIKeySecret.hash(secret))
        }
        try await TemporaryDirectory.with { directory in
            let (port, consolePort) = (try FreePort.find(), try FreePort.find())
            let file = "\(directory.path)/siwa.yaml"
            try """
            api_keys:
              - name: olga
                hash: \(hexadecimal(secret))
                roles: [operator]
            """.write(toFile: file, atomically: true, encoding: .utf8)
            let process = try ServiceProcess.start(
                ["serve"],
                [
                    "PATH": "/usr/bin:/bin", "SIWA_CONFIG": file, "APPLE_TEAM_ID": "A1B2C3D4E5",
                    "APPLE_CLIENT_IDS": "com.example.app",
                    "SIWA_API_KEY_HASHES": "backend=\(hexadecimal("siwa_end_to_end"))",
                    "DATABASE_URL": "sqlite://\(directory.path)/siwa.sqlite", "SIWA_PORT": "\(port)",
                    "SIWA_CONSOLE_PORT": "\(consolePort)",
                ], in: directory, error: URL(fileURLWithPath: "\(directory.path)/serve.log"))
            try await ServiceProcess.stopping(process) {
                let console = "http://127.0.0.1:\(consolePort)"
                try await eventually {
                    (try? await send(.GET, "\(console)/console/sign-in").status) == .ok
                }
                try await body("http://127.0.0.1:\(port)", console)
            }
        }
    }

    private static func send(
        _ method: HTTPMethod, _ url: String, form: String? = nil, cookie: String? = nil, bearer: String? = nil
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: url)
        request.method = method
        if let cookie { request.headers.add(name: "Cookie", value: cookie) }
        if let bearer { request.headers.add(name: "Authorization", value: "Bearer \(bearer)") }
        if let form {
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: form))
        }
        return try await client.execute(request, timeout: .seconds(60))
    }

    /// Follows no redirect.
    private static let client: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }()
}

/// The first page of the console of `siwa dev`, while things go wrong. Each cause has its sentence within
/// seconds; two minutes are what an operator has.
@Suite(.serialized) struct OverviewTests {
    @Test func `a revoked person, a client that hammers and a locked database are named`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let file = "\(directory.path)/dev.sqlite"
            try await DevelopmentProcess.with(["--database", "sqlite://\(file)"], in: directory) { system in
                let backend = Backend(port: system.port, secret: DevelopmentSettings.secret)
                try await Self.names("keys_unreachable", system, isWrong: false)
                let first = try await Self.page(system)
                #expect(first.contains("Nothing is wrong."))
                #expect(first.contains("<svg class=\"plot\"") && first.contains("accepts commands"))
                #expect(!first.contains("data-trouble"))

                try await Self.personStops(at: system, backend)
                try await Self.names("people_revoked", system)
                let noted = try await Self.page(system)
                #expect(noted.contains("One person stopped using an app"))
                #expect(noted.contains("Nothing is wrong."))
                let day = try await Self.page(system, "?period=day")
                #expect(day.contains("By hour over the last day: Sign-ins 1."))

                for _ in 0..<110 { _ = try await backend.signIn("nonsense") }
                try await Self.names("client_hammering", system)

                let transaction = try ForeignTransaction(on: file)
                try await Self.names("database_locked", system)
                transaction.end()
            }
        }
    }

    /// Waits for at most two minutes until the page has or has not this trouble.
    private static func names(
        _ trouble: String, _ system: DevelopmentProcess, isWrong: Bool = true
    ) async throws {
        try await eventually(within: .seconds(120)) {
            try await page(system).contains("data-trouble=\"\(trouble)\"") == isWrong
        }
    }

    private static func page(_ system: DevelopmentProcess, _ query: String = "") async throws -> String {
        // The page changes every five seconds.
        try await Task.sleep(for: .milliseconds(200))
        let request = HTTPClientRequest(url: "\(system.service)/console/overview\(query)")
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 4 << 20))
        #expect(response.status == .ok, "\(text)")
        return text
    }

    /// A person signs in, and then stops using the app at Apple.
    private static func personStops(at system: DevelopmentProcess, _ backend: Backend) async throws {
        let subject = try await send("\(system.apple)/emulator/users?format=text")
        let form = try await send(
            "\(system.apple)/emulator/identity-tokens?format=sign-in", #"{"sub":"\#(subject)","code":true}"#)
        let members = try JSONValue(parsing: Array(form.utf8)).object?.members ?? []
        let answer = try await backend.post("/v1/sign-ins", members.map { ($0.name, $0.value) })
        #expect(answer.status == 201)
        _ = try await send("\(system.apple)/emulator/users/\(subject)/revoke-consent?format=text")
    }

    private static func send(_ url: String, _ body: String = "{}") async throws -> String {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.body = .bytes(Array(body.utf8))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        #expect((200..<300).contains(Int(response.status.code)), "\(text)")
        return text.trimmingCharacters(in: .newlines)
    }
}
