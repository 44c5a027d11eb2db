import AppleEmulator
import Cryptography
import Encodings
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import siwa_dev

/// The authorization server of `siwa dev` with unchanged third-party clients, Authlib, requests-oauthlib and
/// PyJWT, and with the fake Google. Their programs are in `Clients/`.
@Suite(.serialized) struct OAuthClientTests {
    @Test(
        arguments: [
            ("requests-oauthlib goes through every grant that it knows", "requests_oauthlib_client", []),
            ("Authlib goes through every grant that it knows", "authlib_oauth_client", []),
            (
                "Google links in the browser and by App Flip, and each side hears when the other unlinks",
                "google_linking", []
            ),
            (
                "an app without a backend signs in by Apple's sheet, and its API only validates tokens",
                "native_sign_in", []
            ),
            (
                "an app without a backend attests its key, and proves its token requests",
                "attested_sign_in", ["--app-check", "enforced"]
            ),
            (
                "a user signs in on an iPhone, is disabled and enabled, removes a client, and is erased",
                "whole_way", ["--app-check", "enforced"]
            ),
            (
                "Authlib on a device without a browser gets tokens once its user has agreed elsewhere",
                "authlib_device", []
            ),
        ] as [(story: String, driver: String, options: [String])])
    func `a client of others plays its part to the end`(
        story: String, driver: String, options: [String]
    ) async throws {
        try await DevelopmentProcess.with(options) { try await Self.run(driver, at: $0) }
    }

    /// A client that is generated from `openapi.yaml` lacks the parts that its generator does not understand.
    @Test func `a client that openapi-python-client has made signs users in and goes through OAuth`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let document = ProjectFolder.root.appending(path: "Tests/siwa/Schemathesis/openapi.yaml")
            let made = try await PythonTools.run(
                "openapi-python-client",
                [
                    "generate", "--path", document.path, "--meta", "none",
                    "--output-path", "\(directory.path)/generated_siwa",
                ], in: directory
            ).checked()
            #expect(!made.output.contains("Unable to"), "\(made.output)")
            try await DevelopmentProcess.with(in: directory) { system in
                try await Self.run("generated_client", at: system)
            }
        }
    }

    @Test func `tokens are good after a restart with the same database`() async throws {
        try await TemporaryDirectory.with { directory in
            // The issuer is in the tokens, so it must be the same.
            let port = try FreePort.find()
            for driver in ["before_restart", "after_restart"] {
                try await DevelopmentProcess.with(
                    ["--database", "sqlite://dev.sqlite"], port: port, in: directory
                ) { system in try await Self.run(driver, at: system) }
            }
        }
    }

    private static func run(_ driver: String, at system: DevelopmentProcess) async throws {
        let directory = system.directory
        try await PythonTools.runClient(
            driver,
            given: [
                "issuer": .string(system.service), "apple": .string(system.apple),
                "google": .string(system.google), "api_key": .string(DevelopmentSettings.secret),
                "clients": [
                    "native": ["id": .string(DevelopmentClients.native)],
                    "phone": ["id": .string(DevelopmentClients.phone)],
                    "web": [
                        "id": .string(DevelopmentClients.web),
                        "secret": .string(DevelopmentClients.webSecret),
                    ],
                ], "file": .string(directory.path(of: "tokens.json")),
            ], ["PYTHONPATH": directory.path], in: directory)
    }
}

/// Unchanged libraries with fixed Apple URLs, against the fake Apple over TLS. Their programs are in
/// `Clients/`.
@Suite(.serialized) struct ForeignClientTests {
    private static let clientID = "com.example.web"

    /// A driver program, and the redirect URI of the library.
    @Test(arguments: [
        ("social_auth", "http://localhost:9000/complete/apple-id/"),
        ("allauth_client", "http://localhost:9000/accounts/apple/login/callback/"),
        ("authlib_client", "http://localhost:9000/signed-in"),
    ])
    func `a library authorizes, exchanges, refreshes and revokes`(driver: String, redirectURI: String)
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let log = URL(fileURLWithPath: directory.path(of: "apple.log"))
            let key = directory.path(of: "AuthKey_ABC123DEFG.p8")
            let apple = try ServiceProcess.start(
                [
                    "emulate", "--port", "0", "--client-id", "com.example.app", "--client-id", Self.clientID,
                    "--redirect-uri", redirectURI, "--signing-key-file", key,
                    "--refresh-interval", "0", "--tls-self-signed", directory.path(of: "tls"),
                ], ["PATH": "/usr/bin:/bin"], in: directory, error: log)
            try await ServiceProcess.stopping(apple) {
                let authority = directory.path(of: "tls/ca.pem")
                try await PythonTools.runClient(
                    driver,
                    given: [
                        "team": .string(WholeSystem.team), "client_id": .string(Self.clientID),
                        "key_id": "ABC123DEFG", "key": .string(key),
                        "port": .integer(try await Self.port(in: log)), "redirect_uri": .string(redirectURI),
                    ], ["SSL_CERT_FILE": authority, "REQUESTS_CA_BUNDLE": authority], in: directory)
            }
        }
    }

    private static func port(in log: URL) async throws -> Int64 {
        var port: Int64?
        try await eventually {
            // The line may be incomplete.
            let line = try? String(contentsOf: log, encoding: .utf8)
                .firstMatch(of: /listening on 127\.0\.0\.1:(\d+)\D/)
            port = line.flatMap { Int64($0.1) }
            return port != nil
        }
        return try #require(port)
    }
}

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
