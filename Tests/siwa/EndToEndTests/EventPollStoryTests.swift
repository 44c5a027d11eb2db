import Cryptography
import Encodings
import EventDelivery
import Foundation
import JOSE
import ScriptedHTTP
import StrictJSON
import TestSupport
import Testing
import TokenMint

/// Polls for security event tokens by a library of others: a receiver with an API key, and an OAuth client.
@Suite(.timeLimit(.hung)) struct EventPollStoryTests {
    private static let sealing = ServiceProcess.sealingKey()
    private static let clientSecret = "siwa_cs_a-client-that-polls"

    /// - Parameters:
    ///   - events: The lines of the client about its events.
    ///   - more: Further sections.
    private static func variables(
        _ directory: TemporaryDirectory, port: Int, events: [String], _ more: String = ""
    ) throws -> [String: String] {
        let file = """
            oauth:
              clients:
                - id: phone
                  kind: native
                  app: \(TokenMint.clientID)
                  name: Phone
                  platform: ios
                  first_party: true
                  allow_native_sign_in: true
                  scopes: [openid]
                  secret_hashes: [\(Hexadecimal.encode(SHA256Digest.hash(clientSecret)))]
                  \(events.joined(separator: "\n      "))
            \(more)

            """
        return try ServiceProcess.variables(
            directory,
            [
                "SIWA_ENV": "development", "SIWA_SEALING_KEYS": sealing, "SIWA_PORT": "\(port)",
                "SIWA_PUBLIC_URL": "http://127.0.0.1:\(port)",
            ], yaml: file)
    }

    /// An identity token that Apple's sheet gave the app, with its nonce.
    private static func signIn(_ backend: Backend) async throws -> (token: String, nonce: String) {
        let nonce = try await backend.post("/v1/nonces")
        var claims = TokenMint.identityClaims(at: Int64(Date().timeIntervalSince1970) - 10)
        claims["nonce"] = nonce["nonce_sha256"]
        return (try TokenMint.shared.sign(claims), try #require(nonce["nonce"]?.string))
    }

    @Test func `PyJWT verifies what a receiver and a client poll, from a verification to an erasure`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let port = try FreePort.find()
            let variables = try Self.variables(
                directory, port: port, events: ["events: poll"],
                """
                webhooks:
                  - name: billing
                    audience: billing
                    api_key: test
                """)
            let process = try await ServiceProcess.serve(directory, variables)
            let backend = process.backend
            let (token, nonce) = try await Self.signIn(backend)
            try await PythonTools.runClient(
                "poll_events",
                given: [
                    "service": .string(process.url), "api_key": .string(Backend.secret),
                    "client": ["id": "phone", "secret": .string(Self.clientSecret)],
                    "identity_token": .string(token), "nonce": .string(nonce),
                ], in: directory)
            let metrics = try await backend.get("/metrics").text
            for name in ["billing", "client:phone"] {
                #expect(metrics.contains("siwa_event_receiver_paused{receiver=\"\(name)\"} 0\n"))
            }
            #expect(await process.stop() == 0)
        }
    }

    @Test func `a client is pushed the end of its own user, and a verification that its operator asks for`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let server = try await ScriptedServer(always: .emptyAccepted)
            let port = try FreePort.find()
            let variables = try Self.variables(
                directory, port: port, events: ["events: push", "events_url: \(server.baseURL)/events"])
            let first = try await ServiceProcess.serve(directory, variables)
            let backend = first.backend
            // A user whom the client never sees.
            let other = try await backend.signIn(try Minted.token("other"))
            let stranger = try #require(other["account"]?["id"]?.string)
            #expect(try await backend.delete("/v1/accounts/\(stranger)").status == 200)
            let (token, nonce) = try await Self.signIn(backend)
            let tokens = try await first.token([
                ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
                ("subject_token", token), ("nonce", nonce), ("client_id", "phone"),
                ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
                ("client_secret", Self.clientSecret),
            ])
            #expect(tokens.status == 200)
            let account = try await backend.get(
                "/v1/accounts?client_id=\(TokenMint.clientID)&sub=\(TokenMint.subject)")
            let user = try #require(account["id"]?.string)
            #expect(try await backend.delete("/v1/accounts/\(user)").status == 200)
            try await eventually { server.requests.count == 2 }
            #expect(await first.stop() == 0)
            let asked = try await WebhookStoryTests.deliveries(
                ["verify", "client:phone", "--state", "hello"], variables, in: directory)
            #expect(asked.status == 0)
            #expect(asked.output == "client:phone gets a verification event.\n")
            let second = try await ServiceProcess.serve(directory, variables)
            try await eventually { server.requests.count == 3 }
            #expect(await second.stop() == 0)
            let claims = try server.requests.map { request in
                let end = try #require(request.firstRange(of: "\r\n\r\n")?.upperBound)
                return try JSONValue(parsing: TypedJWS(parsing: Array(request[end...].utf8)).payload)
            }
            #expect(claims.map { $0["aud"]?.string } == ["phone", "phone", "phone"])
            #expect(claims.prefix(2).map { $0["sub_id"]?["sub"]?.string } == [user, user])
            let types = claims.flatMap { $0["events"]?.object?.members.map(\.name) ?? [] }
            #expect(
                types == [
                    "https://schemas.openid.net/secevent/oauth/event-type/tokens-revoked",
                    "https://schemas.openid.net/secevent/risc/event-type/account-purged",
                    "https://schemas.openid.net/secevent/ssf/event-type/verification",
                ])
            try await server.close()
        }
    }
}

/// `docs/events.md`: its programs, and its lines against `siwa dev`.
@Suite struct EventsPageTests {
    private static func page() throws -> String { try ProjectFolder.text("docs/events.md") }

    @Test func `the page shows a program in Python as it is`() throws {
        let program = try ProjectFolder.text("docs/receivers/security_events.py")
        #expect(try Self.page().contains("```python\n\(program)```"))
    }

    @Test(arguments: ["receivers/security_events.mjs", "receivers/security_events.go"])
    func `the page leads to each verifier`(file: String) throws {
        #expect(try Self.page().contains("(\(file))"))
    }

    @Test func `the page says how many webhooks try the verifiers`() throws {
        let folder = ProjectFolder.root.appendingPathComponent("Fixtures/webhooks").path
        let count = try FileManager.default.contentsOfDirectory(atPath: folder).count
        #expect(try Self.page().contains("[\(count) webhooks](../Fixtures/webhooks)"))
    }

    @Test(.timeLimit(.hung))
    func `the lines of the page read an event from the feed`() async throws {
        try await DevelopmentProcess.with(["--log-level", "error"]) { system in
            let script = try #require(try ExampleBackend.lines(of: "events.md", beginning: "SIWA="))
            let printed = try await ExampleBackend.paste(system.own(script), in: system.directory)
            let page = try #require(printed.last { $0.hasPrefix("{\"events\":") })
            #expect(page.contains("\"credential_revoked\"") && page.contains("\"cursor\":"), "\(printed)")
            #expect(printed.contains { $0.contains("\"is_new_account\":true") }, "\(printed)")
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
                "SIWA_PUBLIC_URL": "http://127.0.0.1:8080", "SIWA_SEALING_KEYS": ServiceProcess.sealingKey(),
            ]) { $1 }
            let service = try await ServiceProcess.serve(directory, variables)
            #expect(await service.stop() == 0)
            for command in commands {
                try await WebhookStoryTests.deliveries(command, variables, in: directory).checked()
            }
            try await server.close()
        }
    }

    @Test func `the line of integrate.md makes a secret of a webhook`() async throws {
        let page = try ProjectFolder.text("docs/integrate.md")
        let line = try #require(page.firstMatch(of: /`(\(umask 077; echo [^`]+)`/)).1
        try await TemporaryDirectory.with { directory in
            #expect(try await ExampleBackend.paste(String(line), in: directory) == [])
            let secret = try directory.text(of: "webhook-secret")
            #expect(WebhookSecret(secret.trimmingCharacters(in: .whitespacesAndNewlines)) != nil)
        }
    }
}
