import Foundation
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// The console of the built program in production, on its own port.
@Suite(.serialized) struct ConsoleServerTests {
    private static let secret = "siwa_console_end_to_end"

    @Test func `operators sign in on the console's port, which has no call, and the interface has no page`()
        async throws
    {
        try await Self.with { service, console in
            let signIn = try await console.send(.GET, "/console/settings")
            #expect(signIn.status == 303)
            #expect(signIn.location == "/console/sign-in?then=%2Fconsole%2Fsettings")
            let wrong = try await console.send(.POST, "/console/sign-in", [("key", Backend.secret)])
            #expect(wrong.status == 403)
            let right = try await console.send(
                .POST, "/console/sign-in", [("key", Self.secret), ("then", "/console/settings")])
            #expect(right.status == 303)
            let cookie = try #require(right.cookie)
            let page = try await console.send(.GET, "/console/settings", cookie: cookie)
            #expect(page.status == 200)
            #expect(
                page.headers.first(name: "content-security-policy")?.contains("default-src 'none'") == true)
            #expect(page.text.contains("SIWA_CONSOLE_PORT") && page.text.contains("olga"))
            #expect(!page.text.contains(Self.secret))
            // What is not there outside of development is below the calls.
            let fakes = ["/console/world", "/console/world/exchanges", "/console/world/people/ada"]
            for path in ["/v1/events", "/health", "/metrics", "/openapi.yaml"] + fakes {
                #expect(try await console.send(.GET, path, cookie: cookie).status == 404)
            }
            for path in ["/", "/console", "/console/settings"] {
                #expect(try await TestClient.send(.GET, service.url + path, cookie: cookie).status == 404)
            }
            let other = Backend(port: service.port, secret: Self.secret)
            #expect(try await other.get("/v1/events").status == 401)
        }
    }

    @Test func `an operator signs in and out in a browser, on a page that is looked at like the others`()
        async throws
    {
        try await Self.with { _, console in
            try await TemporaryDirectory.with { directory in
                try await Browser.with { browser in
                    try await browser.open("\(console.root)/console/settings")
                    try await browser.type("siwa_wrong", into: "#key")
                    try await browser.press(key: "\u{E007}")
                    try await browser.wait(for: "no API key of this service")
                    for (width, isDark) in [(1280, false), (375, true), (320, false)] as [(Int64, Bool)] {
                        try await browser.show(width: width, isDark: isDark)
                        #expect(try await browser.consoleFaults() == [])
                        #expect(try await browser.axeViolations() == [])
                    }
                    try await browser.show(width: 1280)
                    try await browser.type(Self.secret, into: "#key")
                    try await browser.press(key: "\u{E007}")
                    // The page that was asked for.
                    try await browser.wait(for: "SIWA_CONSOLE_PORT")
                    #expect(try await browser.axeViolations() == [])
                    #expect(try await browser.evaluate("return document.cookie").string == "")
                    try await browser.press("Check again")
                    try await browser.wait(for: "The checks run")
                    try await browser.press("Sign out")
                    try await browser.wait(for: "The console takes an API key")
                    try await browser.open("\(console.root)/console/settings")
                    try await browser.wait(for: "The console takes an API key")
                    #expect(try await browser.refusals().filter { $0.contains("Policy") } == [])
                }
            }
        }
    }

    @Test func `a page that waits for changes does not delay the end of the service`() async throws {
        let clock = ContinuousClock()
        var stopsAt = clock.now
        try await Self.with { _, console in
            let cookie = try await console.signIn(Self.secret)
            let first = try await console.send(.GET, "/console/live", cookie: cookie)
            #expect(first.headers.first(name: "content-type") == "text/event-stream")
            let number = try #require(first.text.firstMatch(of: /id: (\d+)/)).1
            let known = "/console/live?after=\(number)"
            // They wait for 20 seconds where nothing happens.
            for _ in 0..<4 { Task { try await console.send(.GET, known, cookie: cookie) } }
            _ = try await console.send(.GET, "/console/settings", cookie: cookie)
            stopsAt = clock.now
        }
        #expect(clock.now - stopsAt < .seconds(15))
    }

    private static func with(_ body: (ServiceProcess, ConsoleVisitor) async throws -> Void) async throws {
        let port = try FreePort.find()
        let yaml = ConsoleOperator.keys(secret)
        try await ServiceProcess.with(["SIWA_CONSOLE_PORT": "\(port)"], yaml: yaml) { service, _ in
            let console = ConsoleVisitor(root: "http://127.0.0.1:\(port)")
            try await eventually { (try? await console.status("/console/sign-in")) == 200 }
            try await body(service, console)
        }
    }
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
                let backend = system.backend
                try await Self.names("keys_unreachable", system, isWrong: false)
                let first = try await Self.page(system)
                #expect(first.contains("Nothing is wrong."))
                #expect(first.contains("<svg class=\"plot\"") && first.contains("accepts commands"))
                #expect(!first.contains("data-trouble"))

                try await system.revoke(try await system.signIn(code: true).subject)
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
        return try await system.console.get("/console/overview\(query)")
    }
}
