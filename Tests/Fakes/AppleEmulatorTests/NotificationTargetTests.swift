import AppleEmulator
import EmulatorServer
import Testing

@Suite struct NotificationTargetTests {
    @Test(arguments: [
        "http://127.0.0.1/", "http://127.8.9.1:8080/v1/apple/notifications", "https://localhost:1/a?b=c",
        "http://[::1]:8080/x", "http://[::1]/",
    ])
    func `accepts loopback`(url: String) throws {
        #expect(try NotificationTarget(url).url == url)
    }

    @Test func `adds the path that is missing`() throws {
        #expect(try NotificationTarget("http://localhost:8080").url == "http://localhost:8080/")
    }

    @Test func `accepts the hosts that the operator allowed`() throws {
        let target = try NotificationTarget("http://siwa:8080/x", allowedHosts: ["siwa"])
        #expect(target.host == "siwa")
        #expect(throws: EmulatorError(.notificationURLRefused)) {
            try NotificationTarget("http://siwa.example:8080/x", allowedHosts: ["siwa"])
        }
    }

    @Test(arguments: [
        "", "http://", "http:///x", "ftp://localhost/", "localhost:8080", "//localhost/", "HTTP://localhost/",
        "http://example.com/", "http://10.0.0.1/", "http://0.0.0.0/", "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        // Other forms of addresses, which resolvers interpret differently.
        "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://127.0.0.01/",
        "http://127.0.0.1./",
        "http://127.0.0.256/", "http://LOCALHOST/", "http://localhost./",
        // URLs that parsers split differently.
        "http://localhost@example.com/", "http://example.com#@localhost/", "http://localhost\\@example.com/",
        "http://localhost:80@example.com/", "http://localhost%2eexample.com/",
        "http://127.0.0.1.example.com/",
        "http://localhost?.example.com/", "http://localhost:/", "http://localhost:0/", "http://localhost:08/",
        "http://localhost:65536/", "http://localhost:1:2/", "http://[::1]x/", "http://[::1/",
        "http://localhost/a b",
        "http://localhost/\r\nHost: x", "http://localhost/ä", "http://löcalhost/",
    ])
    func `refuses everything else`(url: String) {
        #expect(throws: EmulatorError(.notificationURLRefused)) { try NotificationTarget(url) }
    }
}
