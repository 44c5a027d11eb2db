import TestSupport
import Testing

@testable import AppleIDClient

@Suite struct AppleEndpointsTests {
    @Test func `are Apple's by default`() {
        #expect(AppleEndpoints.apple.keySet == "https://appleid.apple.com/auth/keys")
    }

    @Test(arguments: [
        ("http://127.0.0.1:8081", "http://127.0.0.1:8081/auth/keys"),
        ("http://localhost:1/", "http://localhost:1/auth/keys"),
        ("http://[::1]:65535", "http://[::1]:65535/auth/keys"), ("http://[::1]", "http://[::1]/auth/keys"),
        ("https://appleid.example.com/fake//", "https://appleid.example.com/fake/auth/keys"),
    ])
    func `are built from a base URL`(baseURL: String, keySet: String) {
        #expect(AppleEndpoints(baseURL: baseURL)?.keySet == keySet)
    }

    @Test(arguments: [
        "", "appleid.apple.com", "/auth", "ftp://a", "file:///etc/passwd", "unix:///socket", "http+unix://a",
        "http://", "https:///auth", "http://:80", "http://a:", "http://a:0", "http://a:65536", "http://a:x",
        "http://user@a", "http://user:secret@a", "http://a?x=1", "http://a#x", "http://a b",
        "http://a\r\nX: y",
        "http://a\u{0}", "http://ä", "http://a:80:80", "http://[]", "http://[::1", "http://::1]:80",
        "http://[x]", "http://a%00b", #"http://a\b"#, "HTTP://a",
    ])
    func `refuse a text that is not a plain base URL`(baseURL: String) {
        #expect(AppleEndpoints(baseURL: baseURL) == nil)
    }
}

/// Checks that only a server with a certificate that the system trusts is accepted as Apple.
@Suite(.timeLimit(.hung)) struct TrustTests {
    @Test func `nothing is sent to a server whose certificate is not trusted`() async throws {
        let server = try await StrangeTLSServer()
        let limits = AppleTimeLimits(connect: .seconds(3), read: .seconds(3), total: .seconds(50))
        try await AskedClient.with("https://localhost:\(server.port)", limits: limits) { client in
            let error = try #require(await Call.exchange.failure(client))
            #expect(error == AppleCallError(.unreachable))
            #expect(!error.mayHaveHappened)
        }
        // The server was reached, and its certificate was refused.
        try await eventually { server.text.contains("alert unknown ca") }
    }
}

@Suite struct OutgoingRequestSpanTests {
    @Test(
        arguments: [
            ("https://appleid.apple.com/auth/token", "appleid.apple.com"),
            ("http://127.0.0.1:8081/auth/keys", "127.0.0.1"),
            ("https://hooks.example.com", "hooks.example.com"), ("http://[::1]:8083/webhook", "[::1]"),
            ("https://hooks.example.com?key=secret", "hooks.example.com"),
            ("https://hooks.example.com:443?key=secret", "hooks.example.com"),
            ("https://a.example#x/y", "a.example"),
            ("nonsense", nil),
        ] as [(String, String?)])
    func `a span has the host of a URL, and nothing behind it`(url: String, host: String?) {
        #expect(OutgoingRequestSpan.host(of: url) == host)
    }
}
