import GoogleEmulator
import Hummingbird
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@Suite(.timeLimit(.hung)) struct PageTests {
    @Test func `the page has no script, a strict policy, and no whole secret`() async throws {
        try await GoogleUnderTest.run { google in
            try await google.link()
            _ = try await google.control("refresh")
            let page = try await google.get("/")
            #expect(page.status == 200)
            #expect(!page.text.contains("<script"))
            let policy = page.headers.first(name: "Content-Security-Policy") ?? ""
            #expect(policy.contains("default-src 'none'") && policy.contains("form-action 'self'"))
            for secret in [
                "a-secret-for-google-alone", "refresh-token-number", "access-token-number",
                "a-code-of-the-server",
                "siwa_key_of_the_backend",
            ] {
                #expect(!page.text.contains(secret), "\(secret)")
            }
            for words in ["Google exchanges the code", "Google refreshes the access token", "grant_type"] {
                #expect(page.text.contains(words), "\(words)")
            }
        }
    }

    @Test func `links, refreshes and unlinks by the buttons`() async throws {
        try await GoogleUnderTest.run { google in
            let opened = try await google.submit("/link", [("mode", "browser"), ("scope", "a b")])
            #expect(opened.status == 200)
            #expect(opened.text.contains("scope = a b"))
            try await google.link()
            for action in ["refresh", "call", "unlink"] {
                let response = try await google.submit("/links", [("link", "1"), ("action", action)])
                #expect(response.status == 303)
            }
            #expect(google.service.state.links.last?.status == .unlinkedByGoogle)
            _ = try await google.submit("/streamlined", [("intent", "check")])
            _ = try await google.submit("/events", [("type", "sessions-revoked")])
            #expect(google.server.received("/v1/google/security-events").count == 1)
        }
    }

    @Test func `the page says who calls a link linked, and who calls its token inactive`() async throws {
        try await GoogleUnderTest.run { google in
            try await google.link()
            #expect(try await google.get("/").text.contains("linked</b>, as far as Google knows"))
            google.server.replace("/oauth/introspect") { _ in
                Response(status: .ok, body: .init(byteBuffer: .init(string: #"{"active":false}"#)))
            }
            _ = try await google.submit("/links", [("link", "1"), ("action", "call")])
            let page = try await google.get("/").text
            #expect(page.contains("the app&#39;s API says") || page.contains("the app's API says"))
            #expect(page.contains("the access token is not active. Google learns why"))
        }
    }

    @Test func `text of others is escaped`() async throws {
        try await GoogleUnderTest.run { google in
            let begun = try await google.begin()
            _ = try await google.get("\(begun.redirectURI)?error=%3Cb%3E&state=\(begun.state)")
            let page = try await google.get("/")
            #expect(page.text.contains("&lt;b&gt;"))
            #expect(!page.text.contains("<code><b></code>"))
        }
    }

    @Test func `pages of other sites are kept out`() async throws {
        try await GoogleUnderTest.run { google in
            let rebound = try await google.get("/", headers: ["Host": "evil.example"])
            #expect(rebound.status == 421)
            let form = try await google.send(
                .POST, "/links", headers: ["Origin": "https://evil.example"], body: "action=unlink")
            #expect(form.status == 403)
            let control = try await google.send(
                .POST, "/control/unlink", headers: ["Origin": "http://127.0.0.1:\(google.port)"], body: "{}")
            #expect(control.json?["code"]?.string == "browser_refused")
        }
    }

    @Test func `control requests are read strictly`() async throws {
        try await GoogleUnderTest.run { google in
            for (path, body, code) in [
                ("link", #"{"mod":"browser"}"#, "member_unknown"),
                ("link", #"{"mode":"x"}"#, "member_malformed"),
                ("link", "[]", "body_malformed"), ("refresh", "{}", "link_not_found"),
                ("send-event", #"{"type":1}"#, "member_malformed"), ("nothing", "{}", "path_not_found"),
            ] {
                let response = try await google.control(path, body)
                #expect(response.json?["code"]?.string == code, "\(path) \(body)")
            }
            let long = try await google.control("link", String(repeating: " ", count: 70_000))
            #expect(long.json?["code"]?.string == "body_too_large")
        }
    }

    @Test func `a lost request is not sent, and a lost answer is`() async throws {
        try await GoogleUnderTest.run { google in
            for (loss, count) in [("request", 0), ("answer", 1)] {
                _ = try await google.control("faults/token", #"{"lose":"\#(loss)","times":1}"#, method: .PUT)
                try await google.link()
                #expect(google.service.state.links.last?.status == .failed(error: "unreachable"))
                #expect(google.server.received("/oauth/token").count == count)
            }
            let faults = try await google.control("faults", method: .DELETE)
            #expect(faults.text == "{}\n")
        }
    }
}
