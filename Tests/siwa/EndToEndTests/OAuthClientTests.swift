import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import Composition
@testable import siwa_dev

/// The authorization server of `siwa dev` with unchanged third-party clients, Authlib, requests-oauthlib and
/// PyJWT, and with the fake Google. Their programs are in `Clients/`.
@Suite(.serialized) struct OAuthClientTests {
    @Test(arguments: ["requests_oauthlib_client", "authlib_oauth_client"])
    func `a library goes through every grant that it knows`(driver: String) async throws {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(in: directory) { system in
                try await Self.run(driver, at: system, in: directory)
            }
        }
    }

    /// A client that is generated from `openapi.yaml` lacks the parts that its generator does not understand.
    @Test func `a client that openapi-python-client has made signs users in and goes through OAuth`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let document = PythonTools.root.appendingPathComponent(
                "Tests/siwa/Schemathesis/openapi.yaml")
            let made = try await PythonTools.run(
                "openapi-python-client",
                [
                    "generate", "--path", document.path, "--meta", "none",
                    "--output-path", "\(directory.path)/generated_siwa",
                ], in: directory)
            #expect(made.status == 0, "\(made.output)")
            #expect(!made.output.contains("Unable to"), "\(made.output)")
            try await DevelopmentProcess.with(in: directory) { system in
                try await Self.run("generated_client", at: system, in: directory)
            }
        }
    }

    @Test func `Google links in the browser and by App Flip, and each side hears when the other unlinks`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(in: directory) { system in
                try await Self.run("google_linking", at: system, in: directory)
            }
        }
    }

    @Test func `an app without a backend signs in by Apple's sheet, and its API only validates tokens`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(in: directory) { system in
                try await Self.run("native_sign_in", at: system, in: directory)
            }
        }
    }

    @Test func `an app without a backend attests its key, and proves its token requests`() async throws {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(["--app-check", "enforced"], in: directory) { system in
                try await Self.run("attested_sign_in", at: system, in: directory)
            }
        }
    }

    @Test func `a user signs in on an iPhone, is disabled and enabled, removes a client, and is erased`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(["--app-check", "enforced"], in: directory) { system in
                try await Self.run("whole_way", at: system, in: directory)
            }
        }
    }

    @Test func `Authlib on a device without a browser gets tokens once its user has agreed elsewhere`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(in: directory) { system in
                try await Self.run("authlib_device", at: system, in: directory)
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
                ) { system in
                    try await Self.run(driver, at: system, in: directory)
                }
            }
        }
    }

    private static func run(
        _ driver: String, at system: DevelopmentProcess, in directory: TemporaryDirectory
    ) async throws {
        func client(_ id: String, _ secret: String? = nil) -> JSONValue {
            var client = JSONObject([("id", .string(id))])
            client["secret"] = secret.map { .string($0) }
            return .object(client)
        }
        let clients = JSONObject([
            ("native", client(DevelopmentClients.native)), ("phone", client(DevelopmentClients.phone)),
            ("web", client(DevelopmentClients.web, DevelopmentClients.webSecret)),
        ])
        let given = JSONObject([
            ("issuer", .string(system.service)), ("apple", .string(system.apple)),
            ("google", .string("http://127.0.0.1:\(system.googlePort)")),
            ("api_key", .string(DevelopmentSettings.secret)), ("clients", .object(clients)),
            ("file", .string("\(directory.path)/tokens.json")),
        ])
        let folder = PythonTools.root.appendingPathComponent("Tests/siwa/EndToEndTests/Clients")
        let run = try await PythonTools.run(
            "python",
            [
                folder.appendingPathComponent("\(driver).py").path,
                String(decoding: JSONValue.object(given).serialized(), as: UTF8.self),
            ], ["PYTHONPATH": directory.path], in: directory)
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("done"), "\(run.output)")
    }
}

/// Unchanged libraries with fixed Apple URLs, against the fake Apple over TLS. Their programs are in
/// `Clients/`.
@Suite(.serialized) struct ForeignClientTests {
    private static let root = ProjectFolder.root
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
        let python = Self.root.appendingPathComponent(".build-python/bin/python")
        try #require(
            FileManager.default.isExecutableFile(atPath: python.path),
            "\(python.path) is not there; scripts/python-packages makes it")
        try await TemporaryDirectory.with { directory in
            let log = URL(fileURLWithPath: "\(directory.path)/apple.log")
            let apple = try ServiceProcess.start(
                [
                    "emulate", "--port", "0", "--client-id", "com.example.app", "--client-id", Self.clientID,
                    "--redirect-uri", redirectURI, "--signing-key-file",
                    "\(directory.path)/AuthKey_ABC123DEFG.p8",
                    "--refresh-interval", "0", "--tls-self-signed", "\(directory.path)/tls",
                ], ["PATH": "/usr/bin:/bin"], in: directory, error: log)
            try await ServiceProcess.stopping(apple) {
                let port = try await Self.port(in: log)
                let run = try await Self.run(
                    python, driver, given: ["port": .integer(port), "redirect_uri": .string(redirectURI)],
                    in: directory)
                #expect(run.status == 0, "\(run.output)")
                #expect(run.output.contains("done"), "\(run.output)")
            }
        }
    }

    private static func port(in log: URL) async throws -> Int64 {
        let mark = "listening on 127.0.0.1:"
        var port: Int64?
        try await eventually {
            let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
            guard let range = text.firstRange(of: mark) else { return false }
            let digits = text[range.upperBound...].prefix { $0.isNumber }
            // The line may be incomplete.
            if text[range.upperBound...].count > digits.count { port = Int64(digits) }
            return port != nil
        }
        return try #require(port)
    }

    private static func run(
        _ python: URL, _ driver: String, given: [String: JSONValue], in directory: TemporaryDirectory
    ) async throws -> ProgramRun {
        let key = "\(directory.path)/AuthKey_ABC123DEFG.p8"
        let all: [String: JSONValue] = [
            "team": .string("SIWADEV000"), "client_id": .string(clientID), "key_id": .string("ABC123DEFG"),
            "key": .string(key),
        ].merging(given) { $1 }
        let json = JSONValue.object(JSONObject(all.map { ($0.key, $0.value) })).serialized()
        let authority = "\(directory.path)/tls/ca.pem"
        return try await ProgramRun.of(
            python,
            [
                root.appendingPathComponent("Tests/siwa/EndToEndTests/Clients/\(driver).py").path,
                String(decoding: json, as: UTF8.self),
            ],
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": directory.path, "PYTHONDONTWRITEBYTECODE": "1",
                "SSL_CERT_FILE": authority, "REQUESTS_CA_BUNDLE": authority,
            ], in: directory.path)
    }
}
