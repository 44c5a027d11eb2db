import AppleIDClient
import Testing

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
