import AuthorizationServer
import Testing

@Suite struct RegisteredRedirectURITests {
    @Test(
        arguments: [
            ("https://app.example.com/cb", .claimedHTTPS), ("https://app.example.com", .claimedHTTPS),
            ("https://app.example.com:8443/cb?tenant=1", .claimedHTTPS),
            ("https://xn--bcher-kva.example/cb", .claimedHTTPS),
            ("com.example.app:/oauth2redirect", .customScheme), ("com.example.app:/", .customScheme),
            ("com.example.app:", .customScheme),
            ("com.googleusercontent.apps.123-abc:/oauth2redirect", .customScheme),
            ("http://127.0.0.1", .loopback), ("http://127.0.0.1:9004", .loopback),
            ("http://127.0.0.1/callback", .loopback), ("http://[::1]", .loopback),
            ("http://[::1]:51004/cb?a=b", .loopback),
        ] as [(String, RegisteredRedirectURI.Form)])
    func `accepts the forms of RFC 8252`(text: String, form: RegisteredRedirectURI.Form) throws {
        let uri = try RegisteredRedirectURI(registering: text)
        #expect(uri.form == form)
        #expect(uri.target(for: text)?.text == text)
    }

    @Test(
        arguments: [
            ("https://app.example.com/cb#top", .fragment), ("com.example.app:/cb#", .fragment),
            ("https://*.example.com/cb", .wildcard), ("https://app.example.com/*", .wildcard),
            ("http://127.0.0.1:*/cb", .wildcard),
            ("http://localhost:8080/cb", .localhost), ("https://localhost/cb", .localhost),
            ("http://LOCALHOST/cb", .localhost), ("http://localhost./cb", .localhost),
            ("http://app.localhost/cb", .localhost),
            ("http://app.example.com/cb", .httpNotLoopback), ("http://127.0.0.2/cb", .httpNotLoopback),
            ("http://127.1/cb", .httpNotLoopback), ("http://127.0.0.1.example.com/", .httpNotLoopback),
            ("http://[0:0:0:0:0:0:0:1]/cb", .httpNotLoopback), ("http://192.168.0.2/cb", .httpNotLoopback),
            ("myapp:/cb", .schemeWithoutPeriod), ("myapp://cb", .schemeWithoutPeriod),
            ("javascript:alert(1)", .schemeWithoutPeriod), ("data:text/html,x", .schemeWithoutPeriod),
            ("urn:ietf:wg:oauth:2.0:oob", .outOfBand), ("urn:ietf:wg:oauth:2.0:oob:auto", .outOfBand),
            ("com.example.app://cb", .twoSlashes), ("com.example.app:///cb", .twoSlashes),
            ("com.example.app:cb", .noSlash), ("com.example.app:?a=b", .noSlash),
            ("com..example:/cb", .schemeMalformed), (".com.example:/cb", .schemeMalformed),
            ("com.Example.app:/cb", .schemeMalformed), ("com.example_app:/cb", .schemeMalformed),
            ("1com.example:/cb", .schemeMalformed), ("HTTPS://app.example.com/cb", .schemeWithoutPeriod),
            ("https://user@app.example.com/cb", .userInformation),
            ("http://127.0.0.1@app.example.com/cb", .userInformation),
            ("https://App.example.com/cb", .hostMalformed), ("https://app.example.com./cb", .hostMalformed),
            ("https:///cb", .hostMalformed), ("https:/app.example.com/cb", .hostMalformed),
            ("https://-app.example.com/cb", .hostMalformed), ("https://[2001:db8::1]/cb", .hostMalformed),
            ("https://app.example.com:443/cb", .portMalformed),
            ("https://app.example.com:/cb", .portMalformed),
            ("https://app.example.com:0/cb", .portMalformed), ("http://127.0.0.1:/cb", .portMalformed),
            ("http://127.0.0.1:65536/cb", .portMalformed), ("http://127.0.0.1:080/cb", .portMalformed),
            ("https://app.example.com/a/../cb", .pathNotNormal),
            ("https://app.example.com/./cb", .pathNotNormal),
            ("https://app.example.com/%2e%2e/cb", .pathNotNormal),
            ("https://app.example.com/a%2Fcb", .pathNotNormal), ("https://app.example.com/%", .pathNotNormal),
            ("com.example.app:/%5Ccb", .pathNotNormal), ("http://127.0.0.1/..", .pathNotNormal),
            ("https://app.example.com\\@evil.example/cb", .characterNotAllowed),
            ("https://b\u{FC}cher.example/cb", .characterNotAllowed),
            ("https://app.example.com/c b", .characterNotAllowed),
            (" https://a.example/", .characterNotAllowed),
            ("https://app.example.com/cb\r\nX: y", .characterNotAllowed),
            ("/cb", .notAbsolute), ("", .notAbsolute), (":/cb", .notAbsolute),
            ("app.example.com", .notAbsolute),
            ("https://app.example.com/" + String(repeating: "a", count: 1001), .tooLong),
        ] as [(String, RedirectURIFault)])
    func `refuses every other form with its reason`(text: String, fault: RedirectURIFault) {
        #expect(throws: fault) { try RegisteredRedirectURI(registering: text) }
    }

    @Test(arguments: RedirectURIFault.allCases)
    func `says what was expected`(fault: RedirectURIFault) {
        #expect(fault.reason.hasPrefix("must "))
    }

    @Test func `refuses loopback on phones, and a long scheme on UWP`() throws {
        let loopback = try RegisteredRedirectURI(registering: "http://127.0.0.1/cb")
        for platform in [NativePlatform.ios, .android] {
            #expect(throws: RedirectURIFault.loopbackOnPhone) {
                try loopback.check(by: .ofInstalledApp, on: platform, isDevelopment: true)
            }
        }
        for platform in [nil, .macos, .windows, .linux, .uwp] as [NativePlatform?] {
            try loopback.check(by: .ofInstalledApp, on: platform, isDevelopment: false)
        }
        let scheme39 = "com.example." + String(repeating: "a", count: 27)
        try RegisteredRedirectURI(registering: "\(scheme39):/cb").check(
            by: .ofInstalledApp, on: .uwp, isDevelopment: false)
        let longer = try RegisteredRedirectURI(registering: "\(scheme39)a:/cb")
        #expect(throws: RedirectURIFault.schemeTooLong) {
            try longer.check(by: .ofInstalledApp, on: .uwp, isDevelopment: false)
        }
        try longer.check(by: .ofInstalledApp, on: .windows, isDevelopment: false)
    }

    /// The address that `chrome.identity.getRedirectURL()` returns.
    @Test func `the address of a browser extension is one of a native client, with its slash`() throws {
        let uri = "https://abcdefghijklmnopabcdefghijklmnop.chromiumapp.org/"
        let registered = try RegisteredRedirectURI(registering: uri)
        #expect(registered.form == .claimedHTTPS)
        try registered.check(by: .ofInstalledApp, on: nil, isDevelopment: false)
        #expect(registered.target(for: uri) != nil)
        #expect(registered.target(for: String(uri.dropLast())) == nil)
    }

    @Test func `leaves custom schemes and loopback to native clients`() throws {
        let scheme = try RegisteredRedirectURI(registering: "com.example.app:/cb")
        #expect(throws: RedirectURIFault.customSchemeOfWebClient) {
            try scheme.check(by: .ofServer, on: nil, isDevelopment: true)
        }
        let loopback = try RegisteredRedirectURI(registering: "http://127.0.0.1:3000/cb")
        #expect(throws: RedirectURIFault.loopbackOfWebClient) {
            try loopback.check(by: .ofServer, on: nil, isDevelopment: false)
        }
        try loopback.check(by: .ofServer, on: nil, isDevelopment: true)
    }
}
