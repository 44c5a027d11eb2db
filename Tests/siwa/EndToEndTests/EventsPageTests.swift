import Cryptography
import Encodings
import EventDelivery
import Foundation
import ScriptedHTTP
import TestSupport
import Testing

/// `docs/events.md`: its programs, and its lines against `siwa dev`.
@Suite struct EventsPageTests {
    private static func page() throws -> String {
        try String(
            contentsOf: PythonTools.root.appendingPathComponent("docs/events.md"), encoding: .utf8)
    }

    @Test(arguments: ["backends/python/webhooks.py", "receivers/security_events.py"])
    func `the page shows a program in Python as it is`(file: String) throws {
        let program = try String(
            contentsOf: PythonTools.root.appendingPathComponent("docs/\(file)"), encoding: .utf8)
        #expect(try Self.page().contains("```python\n\(program)```"), "\(file) differs from docs/events.md")
    }

    @Test(arguments: [
        "backends/python/webhooks.py", "backends/javascript/webhooks.mjs", "backends/go/webhooks.go",
        "backends/swift/Webhooks.swift", "receivers/security_events.mjs",
        "receivers/security_events.go",
    ])
    func `the page leads to each verifier`(file: String) throws {
        #expect(try Self.page().contains("(\(file))"))
    }

    @Test func `the page says how many webhooks try the verifiers`() throws {
        let folder = PythonTools.root.appendingPathComponent("Fixtures/webhooks").path
        let count = try FileManager.default.contentsOfDirectory(atPath: folder).count
        #expect(try Self.page().contains("[\(count) webhooks](../Fixtures/webhooks)"))
    }

    @Test(.timeLimit(.hung))
    func `the lines of the page read an event from the feed`() async throws {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(["--log-level", "error"], in: directory) { system in
                let script = try #require(try ExampleBackend.lines(of: "events.md", beginning: "SIWA="))
                    .replacing("http://127.0.0.1:8080", with: system.service)
                    .replacing("http://127.0.0.1:8081", with: system.apple)
                let printed = try await ExampleBackend.paste(script, in: directory)
                let page = try #require(printed.last { $0.hasPrefix("{\"events\":") })
                #expect(page.contains("\"credential_revoked\"") && page.contains("\"cursor\":"), "\(printed)")
                #expect(printed.contains { $0.contains("\"is_new_account\":true") }, "\(printed)")
            }
        }
    }

    @Test(.timeLimit(.hung))
    func `the lines of the page list, resume, replay and verify deliveries`() async throws {
        let commands = try Self.page().split(separator: "\n").filter { $0.hasPrefix("siwa deliveries ") }
            .map { line in
                line.prefix { $0 != "#" }.split(separator: " ").dropFirst(2).map(String.init)
            }
        #expect(Set(commands.map(\.first)) == ["list", "resume", "replay", "verify"])
        try await TemporaryDirectory.with { directory in
            let server = try await ScriptedServer(always: .send("HTTP/1.1 204 X\r\n\r\n"))
            let names = Set(commands.filter { $0.count > 1 && $0[0] != "verify" }.map { $0[1] })
            let polled = try #require(commands.first { $0[0] == "verify" })[1]
            let variables = try WebhookStoryTests.variables(
                directory, names.map { ($0, server) },
                more: ["  - name: \(polled)", "    audience: \(polled)", "    api_key: test"]
            ).merging([
                "SIWA_PUBLIC_URL": "http://127.0.0.1:8080",
                "SIWA_SEALING_KEYS": "test=\(Base64.encode(SecureRandom.bytes(count: 32)))",
            ]) { $1 }
            let service = try await ServiceProcess.serve(directory, variables)
            #expect(await service.stop() == 0)
            for command in commands {
                let run = try await WebhookStoryTests.deliveries(command, variables, in: directory)
                #expect(run.status == 0, "\(command): \(run.output)")
            }
            try await server.close()
        }
    }

    @Test func `the line of integrate.md makes a secret of a webhook`() async throws {
        let page = try String(
            contentsOf: PythonTools.root.appendingPathComponent("docs/integrate.md"), encoding: .utf8)
        let line = try #require(page.firstMatch(of: /`(\(umask 077; echo [^`]+)`/)).1
        try await TemporaryDirectory.with { directory in
            #expect(try await ExampleBackend.paste(String(line), in: directory) == [])
            let secret = try String(contentsOfFile: directory.path(of: "webhook-secret"), encoding: .utf8)
            #expect(WebhookSecret(secret.trimmingCharacters(in: .whitespacesAndNewlines)) != nil)
        }
    }
}
