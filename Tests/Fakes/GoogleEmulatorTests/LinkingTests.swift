import Cryptography
import Encodings
import GoogleEmulator
import Hummingbird
import JOSE
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@Suite(.google(), .timeLimit(.hung)) struct LinkingTests {
    let google = GoogleUnderTest.current

    @Test func `opens the authorization URL with Google's parameters and PKCE`() async throws {
        let begun = try await google.begin(#"{"user_locale":"tr","login_hint":"ada@gmail.com"}"#)
        #expect(begun.url.hasPrefix("\(google.server.issuer)/oauth/authorize?"))
        let expected = [
            "client_id": "google", "response_type": "code", "scope": "devices", "user_locale": "tr",
            "login_hint": "ada@gmail.com", "code_challenge_method": "S256", "state": begun.state,
            "redirect_uri": "http://127.0.0.1:\(google.port)/r/fake-project",
        ]
        for (name, value) in expected { #expect(GoogleUnderTest.parameter(name, of: begun.url) == value) }
    }

    @Test func `exchanges the code with secret and verifier in the body, and keeps the tokens`() async throws
    {
        let begun = try await google.begin()
        let page = try await google.get("\(begun.redirectURI)?code=c&state=\(begun.state)")
        #expect(page.status == 303)
        #expect(page.headers.first(name: "Location")?.hasPrefix("/") == true)
        let request = try #require(google.server.received("/oauth/token").first)
        #expect(request.fields["grant_type"] == "authorization_code")
        #expect(request.fields["client_secret"] == "a-secret-for-google-alone")
        #expect(request.fields["redirect_uri"] == begun.redirectURI)
        let challenge = GoogleUnderTest.parameter("code_challenge", of: begun.url)
        #expect(Base64URL.encode(SHA256Digest.hash(request.fields["code_verifier"] ?? "")) == challenge)
        #expect(request.headers[.authorization] == nil)
        let link = try #require(google.service.state.links.last)
        #expect(link.status == .linked)
        #expect(link.refreshToken == "refresh-token-number-1")
        #expect(link.expiresAt == GoogleUnderTest.now + 3600)
    }

    @Test func `an answer counts once, and only with a state that was begun`() async throws {
        let begun = try await google.begin()
        for state in ["", "guess"] {
            let response = try await google.get("\(begun.redirectURI)?code=c&state=\(state)")
            #expect(response.json?["code"]?.string == "state_unknown")
        }
        _ = try await google.get("\(begun.redirectURI)?code=c&state=\(begun.state)")
        #expect(try await google.get("\(begun.redirectURI)?code=c&state=\(begun.state)").status == 400)
        #expect(google.server.received("/oauth/token").count == 1)
    }

    @Test func `an answer at another redirect URI is not exchanged`() async throws {
        let begun = try await google.begin()
        let other = begun.redirectURI.replacing("/r/fake-project", with: "/a/com.google.OPA")
        _ = try await google.get("\(other)?code=c&state=\(begun.state)")
        #expect(google.server.received("/oauth/token").isEmpty)
        #expect(google.service.state.links.last?.status == .failed(error: "wrong_redirect_uri"))
    }

    @Test func `errors end linking, and those of App Flip that can be recovered from go on in the browser`()
        async throws
    {
        for (error, goesOn) in [
            ("cancelled", true), ("invalid_request", true), ("unrecoverable", false),
            ("access_denied", false),
        ] {
            let begun = try await google.begin(#"{"mode":"app_flip"}"#)
            let uri = begun.redirectURI
            _ = try await google.get("\(uri)?error=\(error)&state=\(begun.state)")
            let link = try #require(google.service.state.links.last)
            #expect(link.status == .failed(error: error))
            #expect(link.goesOnInBrowser == goesOn)
        }
        #expect(google.server.received("/oauth/token").isEmpty)
    }

    @Test func `takes answers to Google's own redirect URIs through the control API`() async throws {
        let uri = "https://oauth-redirect.googleusercontent.com/a/com.google.OPA"
        let begun = try await google.begin(#"{"mode":"app_flip","redirect_uri":"\#(uri)"}"#)
        let link = try await google.control("answer", #"{"url":"\#(uri)?code=c&state=\#(begun.state)"}"#)
        #expect(link.json?["status"]?.string == "linked")
        #expect(google.server.received("/oauth/token").first?.fields["redirect_uri"] == uri)
    }

    @Test func `refreshes, calls the app's API and unlinks`() async throws {
        try await google.link()
        let refreshed = try await google.control("refresh")
        #expect(refreshed.json?["status"]?.integer == 200)
        #expect(
            google.server.received("/oauth/token").last?.fields["refresh_token"] == "refresh-token-number-1")
        #expect(refreshed.json?["link"]?["access_token"]?.string == "access-token-number-2")
        #expect(try await google.control("call", #"{"link":"1"}"#).json?["link"]?["active"]?.bool == true)
        let introspection = try #require(google.server.received("/oauth/introspect").last)
        #expect(introspection.fields["token"] == "access-token-number-2")
        #expect(introspection.headers[.authorization] == "Bearer siwa_key_of_the_backend")
        _ = try await google.control("unlink")
        let revocation = try #require(google.server.received("/oauth/revoke").last)
        #expect(revocation.fields["token"] == "refresh-token-number-2")
        #expect(revocation.fields["token_type_hint"] == "refresh_token")
        #expect(google.service.state.links.last?.status == .unlinkedByGoogle)
    }

    @Test func `invalid_grant at a refresh ends the link, other errors do not`() async throws {
        try await google.link()
        google.server.replace("/oauth/token") { _ in Response(status: .serviceUnavailable) }
        _ = try await google.control("refresh")
        #expect(google.service.state.links.last?.status == .linked)
        google.server.replace("/oauth/token") { _ in ScriptedServer.error("invalid_grant") }
        _ = try await google.control("refresh")
        #expect(google.service.state.links.last?.status == .refused)
    }

    @Test func `keeps at most a hundred links and fifty exchanges`() async throws {
        for _ in 0..<101 { try await google.link() }
        #expect(google.service.state.links.count == 100)
        #expect(google.service.state.links.first?.id == "2")
        #expect(google.service.state.exchanges.count == 50)
    }

    @Test func `an endless answer is cut off`() async throws {
        google.server.replace("/oauth/token") { _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    while true { try await writer.write(.init(repeating: 0x20, count: 65_536)) }
                })
        }
        try await google.link()
        #expect(google.service.state.links.last?.status == .failed(error: "unreachable"))
    }
}

@Suite(.timeLimit(.hung)) struct StreamlinedTests {
    private var google: GoogleUnderTest { .current }

    @Test(.google(), arguments: ["check", "get", "create"])
    func `asks with an ID token of its own`(intent: String) async throws {
        let response = try await google.control(
            "streamlined",
            #"{"intent":"\#(intent)","sub":"42","email":"ada@example.com","hd":"example.com"}"#)
        #expect(response.json?["status"]?.integer == 200)
        let request = try #require(google.server.received("/oauth/token").first).fields
        #expect(request["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer")
        #expect(request["intent"] == intent)
        #expect(request["client_secret"] == "a-secret-for-google-alone")
        let segments = try #require(JWSSegments(compact: request["assertion"] ?? ""))
        let claims = try JSONValue(parsing: segments.payload)
        #expect(claims["iss"]?.string == "https://accounts.google.com")
        #expect(claims["sub"]?.string == "42")
        #expect(claims["hd"]?.string == "example.com")
        #expect(claims["email_verified"]?.bool == true)
        #expect(google.service.state.links.count == (intent == "check" ? 0 : 1))
    }

    @Test(.google())
    func `a refusal makes no link`() async throws {
        google.server.replace("/oauth/token") { _ in
            ScriptedServer.error("linking_error", status: .unauthorized)
        }
        let response = try await google.control("streamlined", #"{"intent":"get"}"#)
        #expect(response.json?["status"]?.integer == 401)
        #expect(response.json?["body"]?["error"]?.string == "linking_error")
        #expect(google.service.state.links.isEmpty)
    }
}

@Suite(.timeLimit(.hung)) struct FaultDelayTests {
    private var google: GoogleUnderTest { .current }

    @Test(
        .google(),
        arguments: [("certs", "/oauth2/v3/certs"), ("risc_configuration", "/.well-known/risc-configuration")])
    func `an answer comes after the delay`(place: String, path: String) async throws {
        _ = try await google.control("faults/\(place)", #"{"delay_ms":60000,"times":1}"#, method: .PUT)
        async let response = google.get(path)
        try await google.clock.sleeper(until: GoogleUnderTest.now * 1000 + 60_000)
        google.clock.advance(by: .seconds(60))
        #expect(try await response.status == 200)
    }

    @Test(.google())
    func `a request of Google is sent after the delay`() async throws {
        try await google.link()
        _ = try await google.control("faults/token", #"{"delay_ms":5000,"times":1}"#, method: .PUT)
        let before = google.server.received("/oauth/token").count
        async let response = google.control("refresh")
        try await google.clock.sleeper(until: GoogleUnderTest.now * 1000 + 5000)
        #expect(google.server.received("/oauth/token").count == before)
        google.clock.advance(by: .seconds(5))
        #expect(try await response.json?["status"]?.integer == 200)
    }
}
