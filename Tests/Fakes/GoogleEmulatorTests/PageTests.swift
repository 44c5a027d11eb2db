import EmulatorServer
import Encodings
import Foundation
import Hummingbird
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import GoogleEmulator

@Suite(.google(), .timeLimit(.hung)) struct PageTests {
    let google = GoogleUnderTest.current

    @Test func `the page has no script, a strict policy, and no whole secret`() async throws {
        try await google.link()
        _ = try await google.control("refresh")
        let page = try await google.get("/")
        #expect(page.status == 200)
        #expect(!page.text.contains("<script"))
        let policy = page.headers.first(name: "Content-Security-Policy") ?? ""
        #expect(policy.contains("default-src 'none'") && policy.contains("form-action 'self'"))
        for secret in [
            "a-secret-for-google-alone", "refresh-token-number", "access-token-number",
            "a-code-of-the-server", "siwa_key_of_the_backend",
        ] { #expect(!page.text.contains(secret), "\(secret)") }
        for words in ["Google exchanges the code", "Google refreshes the access token", "grant_type"] {
            #expect(page.text.contains(words), "\(words)")
        }
    }

    @Test func `links, refreshes and unlinks by the buttons`() async throws {
        let opened = try await google.submit("/link", [("mode", "browser"), ("scope", "a b")])
        #expect(opened.status == 200)
        #expect(opened.text.contains("scope = a b"))
        try await google.link()
        for action in ["refresh", "call", "unlink"] {
            #expect(try await google.submit("/links", [("link", "1"), ("action", action)]).status == 303)
        }
        #expect(google.service.state.links.last?.status == .unlinkedByGoogle)
        _ = try await google.submit("/streamlined", [("intent", "check")])
        _ = try await google.submit("/events", [("type", "sessions-revoked")])
        #expect(google.server.received("/v1/google/security-events").count == 1)
    }

    @Test func `the page says who calls a link linked, and who calls its token inactive`() async throws {
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

    @Test func `text of others is escaped`() async throws {
        let begun = try await google.begin()
        _ = try await google.get("\(begun.redirectURI)?error=%3Cb%3E&state=\(begun.state)")
        let page = try await google.get("/")
        #expect(page.text.contains("&lt;b&gt;"))
        #expect(!page.text.contains("<code><b></code>"))
    }

    @Test func `pages of other sites are kept out`() async throws {
        #expect(try await google.get("/", headers: ["Host": "evil.example"]).status == 421)
        let form = try await google.send(
            .POST, "/links", headers: ["Origin": "https://evil.example"], body: "action=unlink")
        #expect(form.status == 403)
        let control = try await google.send(
            .POST, "/control/unlink", headers: ["Origin": "http://127.0.0.1:\(google.port)"], body: "{}")
        #expect(control.json?["code"]?.string == "browser_refused")
    }

    @Test func `control requests are read strictly`() async throws {
        for (path, body, code) in [
            ("link", #"{"mod":"browser"}"#, "member_unknown"), ("link", #"{"mode":"x"}"#, "member_malformed"),
            ("link", "[]", "body_malformed"), ("refresh", "{}", "link_not_found"),
            ("send-event", #"{"type":1}"#, "member_malformed"), ("nothing", "{}", "path_not_found"),
        ] { #expect(try await google.control(path, body).json?["code"]?.string == code, "\(path) \(body)") }
        let long = try await google.control("link", String(repeating: " ", count: 70_000))
        #expect(long.json?["code"]?.string == "body_too_large")
    }

    @Test func `the control API describes itself as the table of the page does, and has a page`() async throws
    {
        let page = try String(
            contentsOf: ProjectFolder.root.appending(path: "docs/fake-google.md"), encoding: .utf8)
        let document = try await google.get("/control/openapi.json")
        let table = CallTable(of: page, below: "## Calls")
        let differences = try table.differences(from: Data(document.text.utf8))
        #expect(differences == [])
        for code in try FakeSource.errorCodes(in: "GoogleEmulator/EmulatorError+Codes.swift") {
            #expect(document.text.contains("\"\(code)\""), "\(code)")
        }
        #expect(document.text.contains(#""servers":[{"url":"http://127.0.0.1:\#(google.port)"}]"#))
        #expect(try await google.get("/").text.contains("href=\"/control/api\""))
        let words = try await google.get("/control/api").text
        // Streamlined linking has its own call.
        #expect(words.contains("browser, app_flip</td>"))
    }

    @Test func `a lost request is not sent, and a lost answer is`() async throws {
        for (loss, count) in [("request", 0), ("answer", 1)] {
            _ = try await google.control("faults/token", #"{"lose":"\#(loss)","times":1}"#, method: .PUT)
            try await google.link()
            #expect(google.service.state.links.last?.status == .failed(error: "unreachable"))
            #expect(google.server.received("/oauth/token").count == count)
        }
        #expect(try await google.control("faults", method: .DELETE).text == "{}\n")
    }
}

@Suite struct ShownTextTests {
    @Test func `the name of an error is shown whole`() {
        let shown = ShownText.body(Array(#"{"status":400,"code":"redirect_uri_mismatch"}"#.utf8))
        #expect(shown.contains(#""code": "redirect_uri_mismatch""#))
    }

    @Test(arguments: ["c0de", "Code", "a-code-of-the-server", "siwa.code.AbC123_xyz"])
    func `an authorization code is shortened`(code: String) {
        let shown = ShownText.body(Array(#"{"code":"\#(code)"}"#.utf8))
        #expect(!shown.contains("\"\(code)\"") && shown.contains("…"))
        #expect(!ShownText.fields([("code", "abcdefgh")]).contains("abcdefgh"))
    }

    @Test(arguments: ["access_token", "id_token"])
    func `a token of an answer is shortened, and its claims are shown`(name: String) {
        let parts = [#"{"alg":"ES256","typ":"at+jwt"}"#, #"{"sub":"acc_1","scope":"openid"}"#, "signature"]
        let token = parts.map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
        let shown = ShownText.body(Array(#"{"\#(name)":"\#(token)","token_type":"Bearer"}"#.utf8))
        #expect(shown.contains(#""sub": "acc_1""#) && shown.contains(#""typ": "at+jwt""#))
        #expect(!shown.contains(token))
    }
}

/// Bounds in number and size of all stored values that outsiders can add.
@Suite(.timeLimit(.hung)) struct BoundTests {
    private var google: GoogleUnderTest { .current }

    @Test func `keeps the latest 100 begun links, 100 links, 50 exchanges and 200 events`() {
        var book = LinkBook()
        for number in 0...LinkBook.capacity {
            book.begin(
                BegunLink(
                    state: "\(number)", mode: .browser, redirectURI: "", scope: "", userLocale: nil,
                    loginHint: nil, verifier: nil))
            book.add(.browser, .linked)
        }
        #expect(book.begun("0") == nil)
        #expect(book.begun("1") != nil)
        #expect(book.links.map(\.id) == (2...101).map(String.init))
        var log = ExchangeLog()
        var inbox = EventInbox()
        for number in 0...EventInbox.capacity {
            log.add(
                .refresh, "", request: String(repeating: "r", count: 5000), response: "", status: nil,
                since: ExchangeStart(at: 0))
            inbox.add(
                ReceivedEvent(
                    jti: "\(number)", type: "token-revoked", issuedAt: 0, tokenHash: "", linkID: nil,
                    deliveries: 1))
        }
        #expect(log.exchanges.count == 50)
        #expect(log.exchanges.allSatisfy { $0.request.count == 4097 })
        #expect(inbox.events.map(\.jti) == (1...200).map(String.init))
    }

    @Test(.google())
    func `publishes at most 8 keys`() async throws {
        for _ in 0..<8 { _ = try google.service.state.rotateKey() }
        #expect(try await google.get("/oauth2/v3/certs").json?["keys"]?.array?.count == 8)
    }

    @Test(.google())
    func `tokens, errors and fields that are too long are not kept`() async throws {
        google.server.replace("/oauth/token") { _ in
            ScriptedServer.json(
                JSONObject([
                    ("access_token", .string(String(repeating: "a", count: 16 * 1024 + 1))),
                    ("token_type", "Bearer"),
                ]))
        }
        try await google.link()
        #expect(google.service.state.links.last?.accessToken == nil)
        #expect(google.service.state.links.last?.status == .failed(error: "status_200"))
        let begun = try await google.begin()
        let long = String(repeating: "e", count: 4000)
        _ = try await google.get("\(begun.redirectURI)?error=\(long)&state=\(begun.state)")
        #expect(google.service.state.links.last?.status == .failed(error: String(long.prefix(200))))
        let form = try await google.submit("/link", [("mode", "browser"), ("scope", long)])
        #expect(form.json?["code"]?.string == "member_malformed")
    }
}
