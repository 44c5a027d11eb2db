import Encodings
import OAuthSamples
import StrictJSON
import Testing

/// A resource server that knows only HTTP Basic sends the name of its API key, and the key.
@Suite struct IntrospectionByNameTests {
    private static func ask(
        _ service: RunningService, _ name: String, _ secret: String, token: String
    ) async throws -> ProbeResponse {
        let basic = "Basic " + Base64.encode(Array("\(name):\(secret)".utf8))
        return try await OAuthEndpointTests.post(
            service, "/oauth/introspect", "token=\(token)", authorization: basic)
    }

    @Test func `a key with its name sees what it sees as a bearer token`() async throws {
        try await OAuthEndpointTests.with { service in
            let (id, tokens) = try await OAuthEndpointTests.link(service)
            let access = try #require(tokens["access_token"]?.string)
            let seen = try await Self.ask(
                service, "backend", RunningService.secret, token: access)
            #expect(seen.status == 200)
            #expect(seen.json?["sub"]?.string == id)
            let limited = try await Self.ask(
                service, "second", RunningService.limitedSecret, token: access)
            #expect(limited.status == 200)
            #expect(limited.text == #"{"active":false}"#)
            #expect(!service.loggedText().contains(RunningService.secret))
        }
    }

    @Test func `name and key belong together, and everything else is a client that is unknown`() async throws
    {
        try await OAuthEndpointTests.with { service in
            for (name, secret) in [
                ("backend", "wrong"), ("backend", ""), ("", RunningService.secret),
                ("second", RunningService.secret), ("google", RunningService.secret),
                ("BACKEND", RunningService.secret),
                ("backend", OAuthSample.googleSecret),
            ] {
                let response = try await Self.ask(service, name, secret, token: "x")
                #expect(response.status == 401, "\(name)")
                #expect(response.json?["error"]?.string == "invalid_client")
                #expect(response["www-authenticate"]?.hasPrefix("Basic ") == true)
            }
            // A key is not a client: no tokens, and no revocation.
            let basic =
                "Basic "
                + Base64.encode(
                    Array("backend:\(RunningService.secret)".utf8))
            for (path, body) in [
                ("/oauth/token", "grant_type=refresh_token&refresh_token=x"), ("/oauth/revoke", "token=x"),
            ] {
                let response = try await OAuthEndpointTests.post(service, path, body, authorization: basic)
                #expect(response.status == 401, "\(path)")
            }
        }
    }
}
