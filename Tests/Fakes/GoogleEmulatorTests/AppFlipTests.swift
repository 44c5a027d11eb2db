import Encodings
import GoogleEmulator
import Hummingbird
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@Suite(.google(), .timeLimit(.hung)) struct AppFlipTests {
    let google = GoogleUnderTest.current

    private static func answering(_ url: String) -> ScriptedServer.Endpoint {
        { _ in
            ScriptedServer.json(
                JSONObject([("redirect_to", .string(url)), ("outcome", "code"), ("message", "Linked")]))
        }
    }

    /// The path and query of the universal link on this server.
    private static func path(_ url: String) -> String { "/app/link?\(url.drop { $0 != "?" }.dropFirst())" }

    private static func fields(_ url: String) -> [(name: String, value: String)] {
        FormEncoding.decode(url.drop { $0 != "?" }.dropFirst().utf8) ?? []
    }

    @Test func `the app shows the link, asks, and sends its backend to the server with everything`()
        async throws
    {
        let begun = try await google.begin(#"{"mode":"app_flip","user_locale":"pl"}"#)
        #expect(begun.redirectURI == "http://127.0.0.1:\(google.port)/a/com.google.Chromecast")
        let page = try await google.get(Self.path(begun.url))
        #expect(page.text.contains("Agree and link"))
        #expect(page.text.contains(begun.state))
        let url = "\(begun.redirectURI)?code=c&state=\(begun.state)"
        google.server.replace("/v1/oauth/app-flip", with: Self.answering(url))
        let response = try await google.submit(
            "/app/decision", Self.fields(begun.url) + [("decision", "granted"), ("account_id", "acc_1")],
            from: Self.path(begun.url))
        #expect(response.text.contains(url.replacing("&", with: "&amp;")))
        let request = try #require(google.server.received("/v1/oauth/app-flip").first)
        #expect(request.headers[.authorization] == "Bearer siwa_key_of_the_backend")
        let body = try JSONValue(parsing: Array(request.body.utf8))
        let expected = [
            "client_id": "google", "redirect_uri": begun.redirectURI, "state": begun.state,
            "scope": "devices", "decision": "granted", "account_id": "acc_1", "user_locale": "pl",
            "code_challenge_method": "S256",
        ]
        for (name, value) in expected { #expect(body[name]?.string == value, "\(name)") }
        _ = try await google.get(url)
        #expect(google.service.state.links.last?.status == .linked)
    }

    @Test func `the app signs in with the fake Apple when there is no account ID`() async throws {
        google.server.replace("/emulator/identity-tokens") { _ in
            ScriptedServer.json(JSONObject([("identity_token", "apple-token")]))
        }
        let begun = try await google.begin(#"{"mode":"app_flip"}"#)
        _ = try await google.submit(
            "/app/decision", Self.fields(begun.url) + [("decision", "granted")], from: Self.path(begun.url))
        let request = try #require(google.server.received("/v1/oauth/app-flip").first)
        #expect(try JSONValue(parsing: Array(request.body.utf8))["identity_token"]?.string == "apple-token")
    }

    @Test func `without its backend the app makes the cancelled URL, with the state`() async throws {
        google.server.replace("/v1/oauth/app-flip") { _ in Response(status: .serviceUnavailable) }
        let begun = try await google.begin(#"{"mode":"app_flip"}"#)
        let response = try await google.submit(
            "/app/decision", Self.fields(begun.url) + [("decision", "denied")], from: Self.path(begun.url))
        #expect(response.text.contains("\(begun.redirectURI)?error=cancelled&amp;state=\(begun.state)"))
    }

    @Test func `a link of another client gets invalid_request, and one to another address nothing`()
        async throws
    {
        let fine = "http://127.0.0.1:\(google.port)/a/com.google.OPA"
        let other = try await google.get(
            "/app/link?\(FormEncoding.encode([("client_id", "evil"), ("redirect_uri", fine), ("state", "s")]))"
        )
        #expect(other.text.contains("error=invalid_request&amp;state=s"))
        for uri in ["https://evil.example/a/com.google.OPA", "javascript:alert(1)", fine + "/x"] {
            let page = try await google.get(
                "/app/link?\(FormEncoding.encode([("client_id", "google"), ("redirect_uri", uri), ("state", "s")]))"
            )
            #expect(page.text.contains("opens nothing"))
            #expect(!page.text.contains("href=\"\(uri)"))
        }
    }

    @Test func `a decision without the page's token is refused`() async throws {
        let begun = try await google.begin(#"{"mode":"app_flip"}"#)
        let response = try await google.send(
            .POST, "/app/decision",
            body: FormEncoding.encode(Self.fields(begun.url) + [("decision", "denied"), ("token", "guess")]))
        #expect(response.json?["code"]?.string == "page_outdated")
        #expect(google.server.received("/v1/oauth/app-flip").isEmpty)
    }
}
