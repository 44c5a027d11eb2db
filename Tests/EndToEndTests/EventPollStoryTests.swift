import Cryptography
import Encodings
import Foundation
import HTTPAPI
import StrictJSON
import TestSupport
import Testing
import TokenMint

/// Polls for security event tokens by a library of others: a receiver with an API key, and an OAuth client.
@Suite(.timeLimit(.minutes(3))) struct EventPollStoryTests {
    private static let clientSecret = "siwa_cs_a-client-that-polls"

    @Test func `PyJWT verifies what a receiver and a client poll, from a verification to an erasure`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let port = try FreePort.find()
            let service = "http://127.0.0.1:\(port)"
            let file = """
                webhooks:
                  - name: billing
                    audience: billing
                    api_key: test
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
                      secret_hashes: [\(Hexadecimal.encode(SHA256Digest.hash(Self.clientSecret)))]
                      events: poll

                """
            let sealing = "test=\(Base64.encode(SecureRandom.bytes(count: 32)))"
            let variables = try CrashTests.variables(directory).merging([
                "SIWA_CONFIG": try directory.write(file, to: "siwa.yaml"), "SIWA_ENV": "development",
                "SIWA_SEALING_KEYS": sealing, "SIWA_PUBLIC_URL": service, "SIWA_PORT": "\(port)",
            ]) { $1 }
            let process = try await ServiceProcess.serve(directory, variables)
            let backend = Backend(port: process.port, secret: CrashTests.secret)
            let nonce = try await backend.post("/v1/nonces")
            var claims = TokenMint.identityClaims(at: Int64(Date().timeIntervalSince1970) - 10)
            claims["nonce"] = nonce["nonce_sha256"]
            let given = JSONObject([
                ("service", .string(service)), ("api_key", .string(CrashTests.secret)),
                (
                    "client",
                    .object(JSONObject([("id", .string("phone")), ("secret", .string(Self.clientSecret))]))
                ), ("identity_token", .string(try TokenMint.shared.sign(claims))),
                ("nonce", .string(try #require(nonce["nonce"]?.string))),
            ])
            let script = PythonTools.root.appendingPathComponent("Tests/EndToEndTests/Clients/poll_events.py")
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
}
