import AppleAccounts
import Cryptography
import Encodings
import Foundation
import ScriptedHTTP
import SecurityEvents
import StrictJSON
import TestSupport
import Testing
import TokenMint

/// Deliveries of the built program, verified by libraries of others.
@Suite(.timeLimit(.hung)) struct ForeignReceiverTests {
    private static let issuer = "http://127.0.0.1:8080"
    private static let audience = "billing"
    private static let secrets = [WebhookSender.key, WebhookSender.otherKey].map(WebhookSender.secret)

    @Test func `webhooks and tokens of all kinds pass the libraries of others`() async throws {
        try await TemporaryDirectory.with { directory in
            let server = try await ScriptedServer(
                always: .send("HTTP/1.1 202 X\r\nContent-Length: 0\r\n\r\n"))
            let service = try await ServiceProcess.serve(
                directory, try Self.variables(directory, receivers: server.baseURL))
            let backend = Backend(port: service.port, secret: CrashTests.secret)
            try await Self.cause(backend)
            let events = try await backend.get("/v1/events?limit=1000")["events"]?.array ?? []
            #expect(events.count >= 8)
            try await eventually { server.requests.count == 2 * events.count }
            let deliveries = try directory.write(
                server.requests.compactMap(Self.line).joined(separator: "\n"), to: "deliveries.jsonl")
            let run = try await PythonTools.run(
                "python", [Self.program, Self.given(deliveries, keys: service.port)], in: directory)
            #expect(run.status == 0 && run.output.contains("done"), "\(run.output)")
            #expect(await service.stop() == 0)
            try await server.close()
        }
    }

    private static let program =
        PythonTools.root.appendingPathComponent("Tests/siwa/EndToEndTests/Clients/verify_deliveries.py").path

    /// Kinds that `cause` brings about.
    private static let kinds: [AccountEvent.Kind] = [
        .accountCreated, .credentialAuthorized, .credentialRevoked, .accountDisabled, .accountEnabled,
        .sessionsEnded, .accountErased,
    ]

    private static func cause(_ backend: Backend) async throws {
        let first = try await backend.signIn(try CrashTests.token("ada"))
        let account = first["account"]?["id"]?.string ?? ""
        for (change, members) in [
            ("disable", [("reason", JSONValue.string("fraud"))]), ("enable", []), ("sign-out", []),
        ] {
            #expect(try await backend.post("/v1/accounts/\(account)/\(change)", members).status == 200)
        }
        #expect(try await backend.notify(try FleetLoad.notification("ada")).status == 200)
        // About a user who has never signed in here.
        #expect(try await backend.notify(try FleetLoad.notification("stranger")).status == 200)
        #expect(try await backend.delete("/v1/accounts/\(account)").status <= 202)
    }

    private static func variables(
        _ directory: TemporaryDirectory, receivers: String
    ) throws -> [String: String] {
        let files = try secrets.enumerated().map { number, secret in
            try directory.write(secret + "\n", to: "secret-\(number)")
        }
        let file = """
            webhooks:
              - name: webhook
                url: \(receivers)/webhook
                secret_files: [\(files.joined(separator: ", "))]
              - name: push
                url: \(receivers)/push
                audience: \(audience)
            \(OAuthSection.phone)

            """
        return try CrashTests.variables(directory).merging([
            "SIWA_CONFIG": try directory.write(file, to: "siwa.yaml"), "SIWA_ENV": "development",
            "SIWA_SEALING_KEYS": "test=\(Base64.encode(SecureRandom.bytes(count: 32)))",
            "SIWA_PUBLIC_URL": issuer, "SIWA_WEB_REDIRECT_URL": "\(issuer)/health",
            "APPLE_CLIENT_IDS": "\(TokenMint.clientID),com.example.web",
        ]) { $1 }
    }

    /// A received request as a line of JSON.
    private static func line(of request: String) -> String? {
        guard let end = request.firstRange(of: "\r\n\r\n") else { return nil }
        let head = request[..<end.lowerBound].components(separatedBy: "\r\n")
        let fields = head.dropFirst().compactMap { line -> JSONValue? in
            let parts = line.components(separatedBy: ": ")
            guard parts.count == 2 else { return nil }
            return .array([.string(parts[0].lowercased()), .string(parts[1])])
        }
        let delivery = JSONObject([
            ("path", .string(head[0].components(separatedBy: " ").dropFirst().first ?? "")),
            ("headers", .array(fields)), ("body", .string(String(request[end.upperBound...]))),
        ])
        return String(decoding: JSONValue.object(delivery).serialized(), as: UTF8.self)
    }

    /// The argument of the program.
    private static func given(_ deliveries: String, keys port: Int) -> String {
        let types = AccountEvent.Kind.allCases.map {
            ($0.rawValue, JSONValue.string($0.securityEventType.uri))
        }
        let given = JSONObject([
            ("root", .string(PythonTools.root.path)), ("deliveries", .string(deliveries)),
            ("secrets", .array(secrets.map { .string($0) })), ("issuer", .string(issuer)),
            ("audience", .string(audience)), ("types", .object(JSONObject(types))),
            ("kinds", .array(kinds.map { .string($0.rawValue) })),
            ("keys_url", .string("http://127.0.0.1:\(port)/oauth/jwks.json")),
        ])
        return String(decoding: JSONValue.object(given).serialized(), as: UTF8.self)
    }
}
