import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import siwa

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
                "Sources/HTTP/HTTPAPI/OpenAPI/openapi.yaml")
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
