import AuthorizationServer
import Testing

@Suite struct IssuerTests {
    @Test(arguments: [
        "https://accounts.example.com", "https://accounts.example.com:8443", "http://127.0.0.1:8080",
        "http://localhost:8080", "http://[::1]:8080", "https://siwa",
    ])
    func `is an origin, kept byte for byte`(text: String) throws {
        let issuer = try Issuer(text, isDevelopment: true)
        #expect(issuer.text == text)
        #expect(issuer.url("/oauth/token") == text + "/oauth/token")
    }

    @Test(arguments: [
        ("https://accounts.example.com", "accounts.example.com"),
        ("https://accounts.example.com:8443", "accounts.example.com"), ("http://[::1]:8080", "[::1]"),
        ("http://[::1]", "[::1]"), ("http://localhost:8080", "localhost"),
    ])
    func `has a host without a port`(text: String, host: String) throws {
        #expect(try Issuer(text, isDevelopment: true).host == host)
    }

    @Test(arguments: [
        "", "https://", "accounts.example.com", "https://accounts.example.com/",
        "https://accounts.example.com/siwa", "https://accounts.example.com?x",
        "https://accounts.example.com#x",
        "https://user@accounts.example.com", "HTTPS://accounts.example.com", "https://Accounts.example.com",
        "https://accounts.example.com:0", "https://accounts.example.com:", "https://b\u{FC}cher.example",
        "https://accounts.example.com ", "ftp://accounts.example.com", "https://[x]",
    ])
    func `is nothing else`(text: String) {
        #expect(throws: OAuthMistake(.issuerMalformed, at: "oauth.issuer")) {
            try Issuer(text, isDevelopment: true)
        }
    }

    @Test func `is https outside development`() {
        #expect(throws: OAuthMistake(.issuerNotSecure, at: "oauth.issuer")) {
            try Issuer("http://accounts.example.com", isDevelopment: false)
        }
    }
}
