import AppleEmulator
import NIOHTTP1
import Testing

/// Refused requests to the authorization endpoint, and the redirect URIs that an app may have.
@Suite struct AuthorizeRequestTests {
    @Test(
        arguments: [
            (["client_id": ""], "invalid_request"), (["client_id": "com.other.app"], "invalid_client"),
            // A bundle ID is for native apps.
            (["client_id": "com.example.app"], "invalid_client"),
            (["redirect_uri": ""], "invalid_request"),
            (["redirect_uri": "https://app.example.com/callback"], "invalid_request"),
            (["response_type": ""], "invalid_request"), (["response_type": "id_token"], "invalid_request"),
            (["response_type": "token"], "invalid_request"), (["response_mode": "web"], "invalid_request"),
            (["response_mode": ""], "invalid_request"), (["response_mode": "query"], "invalid_request"),
            (["response_mode": "query", "scope": ""], "invalid_request"),
            (["scope": "phone"], "invalid_scope"),
            (["state": String(repeating: "s", count: 8193)], "invalid_request"),
        ] as [([String: String], String)])
    func `refuses with an error page, and sends nothing to the app`(
        changes: [String: String], error: String
    ) async throws {
        try await EmulatorUnderTest.runWithRedirectURIs { apple in
            let response = try await apple.get(EmulatorUnderTest.authorizeQuery(changes))
            #expect(response.status == 400)
            #expect(response.headers["content-type"] == ["text/html;charset=UTF-8"])
            #expect(response.text.contains("<code>\(error)</code>"))
            #expect(response.headers["location"].isEmpty)
            #expect(try await apple.counter("authorize_refusals") == 1)
        }
    }

    @Test func `refuses a parameter that occurs twice`() async throws {
        try await EmulatorUnderTest.runWithRedirectURIs { apple in
            let response = try await apple.get(EmulatorUnderTest.authorizeQuery() + "&state=other")
            #expect(response.status == 400)
        }
    }

    @Test(
        arguments: [
            ("https://example.com/x?y=z", true), ("http://localhost:1/", true), ("http://127.0.0.1/", true),
            ("http://[::1]:8080/x", true), ("https://127.0.0.1/x", true), ("http://example.com/", false),
            ("https://192.0.2.1/", false), ("https://[2001:db8::1]/", false),
            ("https://example.com/#f", false),
            ("https://localhost@evil.example/", false), ("javascript:alert(1)", false), ("https:///x", false),
            ("https://exa mple.com/", false), ("http://localhost.evil.example/", false), ("", false),
        ])
    func `accepts redirect URIs that Apple accepts, and those on this machine`(uri: String, isTaken: Bool)
        async throws
    {
        try await EmulatorUnderTest.run { apple in
            let body = #"{"redirect_uris":["\#(uri)"]}"#
            let response = try await apple.send(.PUT, "/emulator/redirect-uris", body: body)
            #expect(response.status == (isTaken ? 200 : 422))
            #expect(response.code == (isTaken ? nil : "redirect_uri_refused"))
            #expect(apple.emulator.state.apps[0].redirectURIs == (isTaken ? [uri] : []))
        }
    }
}
