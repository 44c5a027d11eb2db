import Testing
import WebOrigins

@Suite struct WebAddressTests {
    @Test func `splits a URL`() throws {
        let address = try #require(WebAddress("https://Sign-In.example.com:8443/a/b?c=d&e"))
        #expect(address.isSecure)
        #expect(address.host == "sign-in.example.com")
        #expect(address.port == 8443)
        #expect(address.path == "/a/b")
        #expect(address.query == "c=d&e")
        #expect(!address.isLocalOrNumeric)
    }

    @Test(arguments: [
        "http://localhost", "http://localhost:80/x", "http://app.localhost", "http://127.0.0.1:8080",
        "https://10.0.0.1", "http://[::1]:80",
    ])
    func `recognizes loopback names and IP addresses`(url: String) throws {
        #expect(try #require(WebAddress(url)).isLocalOrNumeric)
    }
}
