import AppleEmulator
import Cryptography
import Encodings
import Foundation
import StrictJSON
import TestSupport
import Testing

/// The clients and resource servers of docs/clients.md that are installed for tests, unchanged, with the setting that
/// the page names. Their programs are in `Clients/`.
@Suite(.serialized) struct TriedClientTests {
    static let secret = "the secret of a client that is tried"

    /// Driver programs, with the redirect URIs that their libraries use.
    static let tried: [(driver: String, redirectURI: String)] = [
        ("tried_allauth", "http://localhost:9000/accounts/oidc/siwa/login/callback/"),
        ("tried_social_auth", "http://localhost:9000/complete/oidc/"),
        ("tried_mozilla_django_oidc", "http://localhost:9000/oidc/callback/"),
        ("tried_flask_oidc", "http://localhost:9000/authorize"),
        ("tried_resource_servers", "http://localhost:9000/signed-in"),
        ("tried_nginx", "http://localhost:9000/signed-in"),
    ]

    @Test(arguments: tried)
    func `a library signs in with the setting that the page names, and is told what is missing without it`(
        driver: String, redirectURI: String
    ) async throws { try await Self.tryClient(driver, redirectURI) }

    #if os(Linux)
        /// Clients that are not Python packages. `scripts/test` installs them, and one that is missing fails.
        @Test(arguments: ["tried_mod_auth_openidc", "tried_openid_connect"])
        func `a client of the system signs in with the setting that the page names`(driver: String)
            async throws
        {
            try await Self.tryClient(driver, "http://localhost:9000/signed-in")
        }
    #endif

    private static func tryClient(_ driver: String, _ redirectURI: String) async throws {
        try await LinkedSystem.with(.sqlite) { system in
            let file = try system.directory.write(
                Self.configuration(driver, redirectURI), to: "\(driver).yaml")
            try system.apple.state.setNotificationURL("\(system.issuer)/v1/apple/notifications")
            let replica = try await system.serve(0, ["SIWA_CONFIG": file])
            try await Self.run(driver, redirectURI, at: system)
            _ = await replica.stop()
        }
    }

    /// Two clients that differ in one setting.
    private static func configuration(_ driver: String, _ redirectURI: String) -> String {
        func client(_ id: String, _ secret: String, _ more: String) -> String {
            """
                - id: \(id)
                  kind: web
                  app: \(WholeSystem.clientID)
                  name: A client that is tried
                  secret_hashes: [\(Hexadecimal.encode(SHA256Digest.hash(secret)))]
                  scopes: [openid, email, profile, offline_access]
                  redirect_uris: ["\(redirectURI)"]
                  audience: https://api.example.com
            \(more)

            """
        }
        return "oauth:\n  clients:\n" + client(driver, secret, "")
            + client("without-pkce", "\(secret), without PKCE", "      require_pkce: false")
    }

    private static func run(_ driver: String, _ redirectURI: String, at system: LinkedSystem) async throws {
        func client(_ id: String, _ secret: String) -> JSONValue {
            ["id": .string(id), "secret": .string(secret), "redirect_uri": .string(redirectURI)]
        }
        try await PythonTools.runClient(
            driver,
            given: [
                "issuer": .string(system.issuer),
                "apple": "http://127.0.0.1:\(try await system.apple.port())",
                "api_key": .string(Backend.secret), "api_key_name": "test",
                "nginx": .string(try OperatorTool.executable("nginx").path),
                "port": .integer(Int64(try FreePort.find())),
                "clients": [
                    "web": client(driver, secret),
                    "without_pkce": client("without-pkce", "\(secret), without PKCE"),
                ],
            ], in: system.directory)
    }
}
