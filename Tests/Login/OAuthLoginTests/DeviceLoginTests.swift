import Hummingbird
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import OAuthLogin

/// A server with metadata like Google's: it is found by OpenID Connect Discovery, has unknown members, needs
/// the secret of desktop clients, promises no `iss`, does not rotate refresh tokens, and accepts revocations
/// from every client.
@Suite(.timeLimit(.hung)) struct GoogleLikeServerTests {
    private static func trial(_ body: @escaping @Sendable (LoginTrial) async throws -> Void) async throws {
        try await ScriptedAuthorizationServer.run { server in
            let metadata = server.metadata([
                "authorization_response_iss_parameter_supported": nil,
                "device_authorization_endpoint": .string("\(server.issuer)/device/code"),
                "userinfo_endpoint": nil, "response_modes_supported": .array(["query"]),
                "response_types_supported": .array(
                    ["code", "token", "code id_token", "none"].map { .string($0) }),
                "subject_types_supported": .array(["public"]),
                "code_challenge_methods_supported": .array(["plain", "S256"]),
                "token_endpoint_auth_methods_supported": .array(["client_secret_post", "client_secret_basic"]
                ),
            ])
            server.replace("/.well-known/oauth-authorization-server") { _ in Response(status: .notFound) }
            server.replace("/.well-known/openid-configuration") { _ in
                ScriptedAuthorizationServer.json(metadata)
            }
            server.replace("/token") { request in
                var json = server.tokens(1)
                if request.fields["grant_type"] == "authorization_code" {
                    json["id_token"] = .string(try server.idToken())
                    json["refresh_token_expires_in"] = 604_799
                } else {
                    json["refresh_token"] = nil
                    json["access_token"] = "access-2"
                }
                json["scope"] = "openid https://www.googleapis.com/auth/userinfo.email"
                return ScriptedAuthorizationServer.json(json)
            }
            try await TemporaryDirectory.with { directory in
                var trial = LoginTrial(directory: directory, server: server)
                (trial.secret, trial.scope) = ("GOCSPX-no-secret", ["openid email"])
                try await body(trial)
            }
        }
    }

    @Test func `signs in, keeps the refresh token over a refresh, and says the scope as it was granted`()
        async throws
    {
        try await Self.trial { trial in
            let first = try await trial.signIn()
            #expect(first.error == nil)
            #expect(first.said.contains("https://www.googleapis.com/auth/userinfo.email"))
            #expect(!first.said.contains("the right issuer"))
            let second = try await trial.signIn()
            #expect(second.error == nil)
            #expect(second.tokens?.accessToken == "access-2")
            #expect(second.tokens?.refreshToken == "refresh-1")
            let requests = trial.server.received("/token").map(\.fields)
            #expect(requests.map { $0["client_secret"] } == ["GOCSPX-no-secret", "GOCSPX-no-secret"])
            for said in [first.said, second.said] { #expect(!said.contains("GOCSPX")) }
        }
    }

    @Test func `a token that has ended there already does not keep the file`() async throws {
        try await Self.trial { trial in
            _ = try await trial.signIn()
            trial.server.replace("/revoke") { _ in
                ScriptedAuthorizationServer.json(
                    JSONObject([("error", "invalid_token")]), status: .badRequest)
            }
            let outcome = try await trial.signOut()
            #expect(outcome.error == nil)
            #expect(outcome.tokens == nil)
        }
    }
}

/// `siwa login --device` (RFC 8628) against a scripted server.
@Suite(.timeLimit(.hung)) struct DeviceLoginTests {
    private typealias Server = ScriptedAuthorizationServer

    /// - Parameters:
    ///   - errors: Errors of the first polls. The next poll gets tokens.
    ///   - device: Changes of the response with the codes.
    private static func trial(
        _ errors: [String] = [], device: [String: JSONValue?] = [:], metadata: [String: JSONValue?] = [:],
        _ body: @escaping @Sendable (LoginTrial) async throws -> Void
    ) async throws {
        try await Server.run { server in
            server.replace("/.well-known/oauth-authorization-server") { _ in
                let endpoint = JSONValue.string("\(server.issuer)/device_authorization")
                return Server.json(
                    server.metadata(["device_authorization_endpoint": endpoint].merging(metadata) { $1 }))
            }
            server.replace("/device_authorization") { _ in
                var json = JSONObject([
                    ("device_code", "dev1ce"), ("user_code", "BCDF-GHJK"),
                    ("verification_uri", .string("\(server.issuer)/device")),
                    ("verification_uri_complete", .string("\(server.issuer)/device?user_code=BCDF-GHJK")),
                    ("expires_in", 600), ("interval", 5),
                ])
                for (name, value) in device { json[name] = value }
                return Server.json(json)
            }
            let left = Mutex(errors)
            server.replace("/token") { request in
                guard request.fields["device_code"] == "dev1ce" else { return Response(status: .badRequest) }
                let error = left.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                if error == "outage" { return Response(status: .serviceUnavailable) }
                if let error {
                    return Server.json(JSONObject([("error", .string(error))]), status: .badRequest)
                }
                var json = server.tokens(1)
                json["id_token"] = .string(try server.idToken(["nonce": nil]))
                return Server.json(json)
            }
            try await TemporaryDirectory.with { directory in
                var trial = LoginTrial(directory: directory, server: server)
                trial.usesDevice = true
                try await body(trial)
            }
        }
    }

    @Test func `prints address and code, polls, and keeps the tokens in the usual file`() async throws {
        try await Self.trial(["authorization_pending", "authorization_pending"]) { trial in
            let outcome = try await trial.signIn()
            #expect(outcome.error == nil)
            for words in ["/device\n", "BCDF-GHJK", "/device?user_code=BCDF-GHJK", "Signed in."] {
                #expect(outcome.said.contains(words), "\(words)")
            }
            for secret in ["dev1ce", "access-1", "refresh-1"] { #expect(!outcome.said.contains(secret)) }
            let tokens = try #require(outcome.tokens)
            #expect(tokens.refreshToken == "refresh-1")
            #expect(tokens.subject == ScriptedAuthorizationServer.subject)
            let asked = try #require(trial.server.received("/device_authorization").first).fields
            #expect(asked["client_id"] == "desktop" && asked["scope"] == "openid email")
            let polls = trial.server.received("/token")
            #expect(polls.count == 3)
            #expect(
                polls.allSatisfy {
                    $0.fields["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code"
                        && $0.fields["client_id"] == "desktop"
                })
            #expect(trial.clock.slept == .seconds(15))
            #expect(trial.server.received("/authorize").isEmpty)
        }
    }

    @Test func `waits five seconds longer after each slow_down, and for all that follow`() async throws {
        try await Self.trial(["slow_down", "authorization_pending", "slow_down"]) { trial async throws in
            #expect(try await trial.signIn().error == nil)
            // 5, then 10 and 10, then 15.
            #expect(trial.clock.slept == .seconds(40))
        }
    }

    @Test func `waits twice as long when the server cannot answer`() async throws {
        try await Self.trial(["outage", "outage"]) { trial async throws in
            #expect(try await trial.signIn().error == nil)
            #expect(trial.clock.slept == .seconds(5 + 10 + 20))
        }
    }

    @Test(arguments: [
        ("access_denied", LoginError.Code.serverRefused), ("expired_token", .serverRefused),
        ("invalid_grant", .grantInvalid),
    ])
    func `ends with the answer of the server`(error: String, code: LoginError.Code) async throws {
        try await Self.trial(["authorization_pending", error]) { trial in
            let outcome = try await trial.signIn()
            #expect(outcome.error?.code == code)
            #expect(outcome.tokens == nil)
            #expect(trial.server.received("/token").count == 2)
        }
    }

    @Test func `stops when the code has expired`() async throws {
        let pending = Array(repeating: "authorization_pending", count: 1000)
        try await Self.trial(pending, device: ["expires_in": 60]) { trial async throws in
            #expect(try await trial.signIn().error?.code == .responseMissing)
            #expect(trial.server.received("/token").count == 11)
        }
    }

    @Test(
        arguments: [
            ["device_code": nil], ["device_code": JSONValue.string("")], ["user_code": nil],
            ["verification_uri": nil], ["verification_uri": "http://other.example.com/device"],
            ["verification_uri": "javascript:alert(1)"], ["expires_in": nil],
            ["expires_in": 0],
        ] as [[String: JSONValue?]])
    func `refuses codes that no user could use`(change: [String: JSONValue?]) async throws {
        try await Self.trial(device: change) { trial async throws in
            #expect(try await trial.signIn().error?.code == .tokenResponseUnusable)
            #expect(trial.server.received("/token").isEmpty)
        }
    }

    @Test func `a server cannot make the program poll without a pause, or write to the terminal`()
        async throws
    {
        let device: [String: JSONValue?] = [
            "interval": -5, "user_code": "A\u{1B}[2J",
            "verification_uri_complete": "http://other.example.com/",
        ]
        try await Self.trial(["authorization_pending"], device: device) { trial in
            let outcome = try await trial.signIn()
            #expect(outcome.error == nil)
            #expect(trial.clock.slept == .seconds(2))
            #expect(!outcome.said.contains("\u{1B}") && !outcome.said.contains("other.example.com"))
        }
    }

    @Test func `says that a server has no device grant`() async throws {
        try await Self.trial(metadata: ["device_authorization_endpoint": nil]) { trial async throws in
            #expect(try await trial.signIn().error?.code == .serverUnsuitable)
        }
    }
}
