import Testing

@testable import SignIn

@Suite struct WebURLTests {
    @Test(arguments: [
        "https://a.example", "https://a.example/", "https://a.example:8443/p/q?x=1&y=%20",
        "https://[2001:db8::1]/x",
        "https://[2001:db8::1]:443/x", "http://localhost:8080/x", "http://emulator:9000/auth",
        "http://127.0.0.1", "http://[::1]:80/",
    ])
    func `takes an address that a browser may be sent to`(url: String) {
        #expect(WebURL(url)?.isSecure == url.hasPrefix("https:"))
        #expect(WebURL(url)?.hasQuery == url.contains("?"))
    }

    @Test(arguments: [
        "", "a.example", "//a.example", "/path", "ftp://a.example", "javascript:alert(1)", "data:text/html,x",
        "HTTPS://a.example", "https:/a.example", "https://", "https:///x", "https://?x",
        "https://user@a.example",
        "https://a.example@evil.example", "https://a.example#x", "https://a.example/ x",
        "https://a.example/\r\nX: y",
        "https://a.example/\"", "https://a.example/<", "https://a.exämple", "https://a.example:0",
        "https://a.example:+1",
        "https://a.example:99999", "https://a.example:", "https://a_b.example", "https://[]",

        "https://a.example\\@evil.example",
        "https://" + String(repeating: "a", count: 2048),
    ])
    func `refuses any other`(url: String) {
        #expect(WebURL(url) == nil)
    }
}
