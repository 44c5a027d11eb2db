import Cryptography
import Encodings
import Foundation
import HTTPAPI
import JOSE
import NIOHTTP1
import ScriptedHTTP
import StrictJSON
import TestSupport
import Testing
import TokenMint

/// Polls for security event tokens by a library of others: a receiver with an API key, and an OAuth client.
@Suite(.timeLimit(.hung)) struct EventPollStoryTests {
    private static let sealing = "test=\(Base64.encode(SecureRandom.bytes(count: 32)))"
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
        return try CrashTests.variables(directory).merging([
            "SIWA_CONFIG": try directory.write(file, to: "siwa.yaml"), "SIWA_ENV": "development",
            "SIWA_SEALING_KEYS": sealing,
            "SIWA_PUBLIC_URL": "http://127.0.0.1:\(port)", "SIWA_PORT": "\(port)",
        ]) { $1 }
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
            let backend = Backend(port: process.port, secret: CrashTests.secret)
            let (token, nonce) = try await Self.signIn(backend)
            let given = JSONObject([
                ("service", .string("http://127.0.0.1:\(port)")), ("api_key", .string(CrashTests.secret)),
                (
                    "client",
                    .object(JSONObject([("id", .string("phone")), ("secret", .string(Self.clientSecret))]))
                ), ("identity_token", .string(token)), ("nonce", .string(nonce)),
            ])
            let script = PythonTools.root.appendingPathComponent(
                "Tests/siwa/EndToEndTests/Clients/poll_events.py")
            let run = try await PythonTools.run(
                "python",
                [script.path, String(decoding: JSONValue.object(given).serialized(), as: UTF8.self)],
                in: directory)
            #expect(run.status == 0, "\(run.output)")
            #expect(run.output.contains("done"), "\(run.output)")
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
            let server = try await ScriptedServer(
                always: .send("HTTP/1.1 202 X\r\nContent-Length: 0\r\n\r\n"))
            let port = try FreePort.find()
            let variables = try Self.variables(
                directory, port: port, events: ["events: push", "events_url: \(server.baseURL)/events"])
            let first = try await ServiceProcess.serve(directory, variables)
            let backend = Backend(port: first.port, secret: CrashTests.secret)
            // A user whom the client never sees.
            let other = try await backend.signIn(try CrashTests.token("other"))
            let stranger = try #require(other["account"]?["id"]?.string)
            #expect(try await backend.delete("/v1/accounts/\(stranger)").status == 200)
            let (token, nonce) = try await Self.signIn(backend)
            let tokens = try await OAuthReplica.send(
                .POST, "http://127.0.0.1:\(port)/oauth/token",
                headers: [("Content-Type", "application/x-www-form-urlencoded")],
                body: Array(
                    FormEncoding.encode([
                        (name: "grant_type", value: "urn:ietf:params:oauth:grant-type:token-exchange"),
                        ("subject_token", token), ("nonce", nonce), ("client_id", "phone"),
                        ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
                        ("client_secret", Self.clientSecret),
                    ]).utf8))
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
