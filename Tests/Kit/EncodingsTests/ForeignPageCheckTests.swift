import Encodings
import Testing

@Suite struct ForeignPageCheckTests {
    let check = ForeignPageCheck(hosts: AllowedHosts(["siwa.test", "192.168.1.5", "fd00::5", "k"]))

    @Test(arguments: [
        "localhost", "localhost:8081", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8080", "127.255.0.3", "[::1]",
        "[::1]:8080", "siwa.test", "Siwa.Test:443", "192.168.1.5:8081", "[fd00::5]:1", "localhost:",
        "prod-console.localhost:9090", "a.b.LOCALHOST",
    ])
    func `answers under the names of this machine and under configured ones`(host: String) throws {
        try check.check(host: [host])
    }

    @Test(arguments: [
        "attacker.example", "attacker.example:8081", "localhost.attacker.example",
        "127.0.0.1.attacker.example",
        "evil.localhost.example.com", "evil-localhost", "evillocalhost:80", ".localhost", "a..localhost",
        "a.localhost.", "localhost.", "127.1", "0x7f000001", "2130706433", "0127.0.0.1", "127.0.0.256",
        "127.0.0.1 ",
        " localhost",
        "localhost:8081:8081", "localhost:8081@attacker.example", "attacker.example#localhost", "", ":8081",
        "::1", "[::1", "[::1]x", "[::]", "0.0.0.0", "192.168.1.6", "siwa.test\u{301}", "l\u{F6}calhost",
        "\u{212A}",
        "siwa.test.attacker.example", "notsiwa.test", "xsiwa.test", "siwa%2Etest",
        "siwa.test,attacker.example",
        String(repeating: "a", count: 254),
    ])
    func `refuses any other name`(host: String) {
        #expect(throws: ForeignPageRefusal.host) { try check.check(host: [host]) }
    }

    @Test(arguments: [[], ["localhost", "localhost"], ["localhost", "attacker.example"]])
    func `refuses a request that names no server, or two`(host: [String]) {
        #expect(throws: ForeignPageRefusal.host) { try check.check(host: host) }
    }

    @Test(arguments: ["0.0.0.0", "::", "[::]", "*", "", "a b", "a/b", "a:1", "[a]b", "\u{E9}.example"])
    func `a wildcard and what is no name allow nothing`(name: String) {
        #expect(AllowedHosts([name]) == AllowedHosts())
    }

    private func checkSender(origin: [String], site: [String] = [], host: [String]) throws(ForeignPageRefusal)
    { try check.check(RequestSender(origin: origin, site: site, host: host)) }

    @Test(arguments: [
        ("http://127.0.0.1:8081", "127.0.0.1:8081"), ("https://Siwa.Test", "siwa.test"),
        ("http://[::1]:8081", "[::1]:8081"),
    ])
    func `lets a page of the server itself send forms to it`(origin: String, host: String) throws {
        for site in [[], ["same-origin"], ["none"]] {
            try checkSender(origin: [origin], site: site, host: [host])
        }
    }

    @Test func `lets tools in, which have no origin`() throws {
        try checkSender(origin: [], host: ["127.0.0.1:8081"])
    }

    @Test(arguments: [
        "https://attacker.example", "null", "", "http://127.0.0.1", "http://127.0.0.1:3000",
        "http://localhost:8081", "file://", "127.0.0.1:8081", "http://127.0.0.1:8081.attacker.example",
        "http://127.0.0.1:8081/", "http://127.0.0.1:8081@attacker.example", "ftp://127.0.0.1:8081",
    ])
    func `refuses what a page of another server sends`(origin: String) {
        #expect(throws: ForeignPageRefusal.origin) {
            try checkSender(origin: [origin], host: ["127.0.0.1:8081"])
        }
    }

    @Test(arguments: [
        ["cross-site"], ["same-site"], ["same-origin", "cross-site"], [""], ["Same-Origin"], ["null"],
    ])
    func `refuses what the browser says comes from elsewhere, whatever the origin`(site: [String]) {
        for origin in [[], ["http://127.0.0.1:8081"]] {
            #expect(throws: ForeignPageRefusal.origin) {
                try checkSender(origin: origin, site: site, host: ["127.0.0.1:8081"])
            }
        }
    }

    @Test func `refuses two origins`() {
        #expect(throws: ForeignPageRefusal.origin) {
            try checkSender(
                origin: ["http://127.0.0.1:8081", "https://attacker.example"], host: ["127.0.0.1:8081"])
        }
    }

    @Test func `pages that hide their origin send null, and a proxy may have changed the host`() {
        let hidden = RequestSender(origin: ["null"], site: ["same-origin"], host: ["10.0.0.7:8080"])
        #expect(hidden.isForeign() && !hidden.isForeign(pagesHideOrigin: true))
        let named = RequestSender(origin: ["https://siwa.test"], site: [], host: ["10.0.0.7:8080"])
        #expect(named.isForeign() && !named.isForeign(to: ["https://siwa.test"]))
    }
}

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
