import EmulatorServer
import Hummingbird
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import GoogleEmulator

/// Bounds in number and size of all stored values that outsiders can add.
@Suite(.timeLimit(.hung)) struct BoundTests {
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

    @Test func `publishes at most 8 keys`() async throws {
        try await GoogleUnderTest.run { google in
            for _ in 0..<8 { _ = try google.service.state.rotateKey() }
            let keys = try await google.get("/oauth2/v3/certs").json?["keys"]?.array
            #expect(keys?.count == 8)
        }
    }

    @Test func `tokens, errors and fields that are too long are not kept`() async throws {
        try await GoogleUnderTest.run { google in
            google.server.replace("/oauth/token") { _ in
                ScriptedServer.json(
                    JSONObject([
                        ("access_token", .string(String(repeating: "a", count: 16 * 1024 + 1))),
                        ("token_type", .string("Bearer")),
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
}
