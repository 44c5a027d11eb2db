import Hummingbird
import StrictJSON
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
                "userinfo_endpoint": nil, "response_modes_supported": .array([.string("query")]),
                "response_types_supported": .array(
                    ["code", "token", "code id_token", "none"].map { .string($0) }),
                "subject_types_supported": .array([.string("public")]),
                "code_challenge_methods_supported": .array([.string("plain"), .string("S256")]),
                "token_endpoint_auth_methods_supported": .array([
                    .string("client_secret_post"), .string("client_secret_basic"),
                ]),
            ])
            server.replace("/.well-known/oauth-authorization-server") { _ in Response(status: .notFound) }
            server.replace("/.well-known/openid-configuration") { _ in
                ScriptedAuthorizationServer.json(metadata)
            }
            server.replace("/token") { request in
                var json = server.tokens(1)
                if request.fields["grant_type"] == "authorization_code" {
                    json["id_token"] = .string(try server.idToken())
                    json["refresh_token_expires_in"] = .integer(604_799)
                } else {
                    json["refresh_token"] = nil
                    json["access_token"] = .string("access-2")
                }
                json["scope"] = .string("openid https://www.googleapis.com/auth/userinfo.email")
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
                    JSONObject([("error", .string("invalid_token"))]), status: .badRequest)
            }
            let outcome = try await trial.signOut()
            #expect(outcome.error == nil)
            #expect(outcome.tokens == nil)
        }
    }
}
