import GoogleEmulator
import Hummingbird
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// Everything that outsiders can fill: what Google keeps is bounded in number and in size.
@Suite(.timeLimit(.minutes(1))) struct BoundTests {
    @Test func `keeps 100 begun links, 100 links, 50 exchanges and 8 keys`() async throws {
        try await GoogleUnderTest.run { google in
            let first = try await google.begin()
            for _ in 0..<100 { _ = try await google.begin() }
            let dropped = try await google.get("\(first.redirectURI)?error=x&state=\(first.state)")
            #expect(dropped.json?["code"]?.string == "state_unknown")
            for _ in 0..<101 {
                let begun = try await google.begin()
                _ = try await google.get("\(begun.redirectURI)?error=access_denied&state=\(begun.state)")
            }
            #expect(google.service.state.links.map(\.id) == (2...101).map(String.init))
            #expect(google.service.state.exchanges.count == 50)
            for _ in 0..<8 { _ = try await google.control("keys/rotate") }
            let keys = try await google.get("/oauth2/v3/certs").json?["keys"]?.array
            #expect(keys?.count == 8)
        }
    }

    @Test func `tokens, errors and fields that are too long are not kept`() async throws {
        try await GoogleUnderTest.run { google in
            google.server.answer("/oauth/token") { _ in
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
