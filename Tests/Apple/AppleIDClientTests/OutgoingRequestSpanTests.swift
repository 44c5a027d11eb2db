import Testing

@testable import AppleIDClient

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
