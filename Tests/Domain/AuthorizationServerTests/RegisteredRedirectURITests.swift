import TestSupport
import Testing

@testable import AuthorizationServer

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

    @Test(arguments: RedirectURIFault.allCases) func `says what was expected`(fault: RedirectURIFault) {
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

@Suite struct RedirectTargetTests {
    @Test(arguments: [
        ("https://app.example.com/cb", "https://app.example.com"),
        ("https://app.example.com:8443", "https://app.example.com:8443"),
        ("https://app.example.com?x=1", "https://app.example.com"),
        ("com.example.app:/cb", "com.example.app:"), ("com.example.app:", "com.example.app:"),
        ("http://127.0.0.1:9004/cb", "http://127.0.0.1:9004"),
        // A host source of a policy cannot be an IPv6 address.
        ("http://[::1]:9004/cb", "http:"),
        ("com.example.app:/cb?next=https://shop.example.com/", "com.example.app:"),
        ("https://app.example.com/cb?next=https://shop.example.com/", "https://app.example.com"),
    ])
    func `names itself for the form-action of a policy`(text: String, source: String) throws {
        let target = try RegisteredRedirectURI(registering: text).target(for: text)
        #expect(target?.formActionSource == source)
    }

    @Test(arguments: [
        ("https://app.example.com/cb", "app.example.com"),
        ("https://app.example.com:8443?x=1", "app.example.com:8443"),
        ("https://app.example.com/cb?next=https://shop.example.com/", "app.example.com"),
        ("http://127.0.0.1:9004", "127.0.0.1:9004"), ("http://[::1]:9004/cb", "[::1]:9004"),
        ("com.example.app:/cb", "com.example.app"),
        // The page would name a host that the browser does not go to.
        ("com.example.app:/cb?next=https://shop.example.com/", "com.example.app"),
        ("com.example.app:/https://shop.example.com/", "com.example.app"),
    ])
    func `tells users where the browser goes`(text: String, destination: String) throws {
        let target = try RegisteredRedirectURI(registering: text).target(for: text)
        #expect(target?.destination == destination)
    }

    @Test func `has two URIs for a project and twelve for App Flip`() throws {
        let settings = try OAuthSettings.sample()
        let google = try #require(settings.clients["google"])
        let uris = google.redirectURIs
        #expect(uris.count { $0.form == .googleProject } == 2)
        #expect(uris.count { $0.form == .appFlip } == 12)
        for host in ["oauth-redirect", "oauth-redirect-sandbox"] {
            let origin = "https://\(host).googleusercontent.com"
            #expect(google.redirectTarget(for: "\(origin)/r/home-link-42") != nil)
            #expect(settings.clients.appFlipTarget(for: "\(origin)/r/home-link-42") == nil)
            for bundleID in [
                "com.google.Chromecast", "com.google.Chromecast.dev", "com.google.Chromecast.enterprise",
                "com.google.OPA", "com.google.OPA.dev", "com.google.OPA.enterprise",
            ] {
                #expect(google.redirectTarget(for: "\(origin)/a/\(bundleID)") != nil)
                #expect(settings.clients.appFlipTarget(for: "\(origin)/a/\(bundleID)") != nil)
            }
        }
    }

    @Test func `takes more bundle IDs, and those of the test tool in development`() throws {
        let draft = OAuthDraft.sample {
            $0.clients = [
                .googleSample {
                    $0.appFlipBundleIDs = ["com.google.Future", "com.google.OPA"]
                    $0.appFlipTestRedirectURIs = ["https://test.example.com/a/tool"]
                }
            ]
        }
        let settings = try OAuthSettings.sample(draft, isDevelopment: true)
        let flip = settings.clients
        #expect(
            flip.appFlipTarget(for: "https://oauth-redirect.googleusercontent.com/a/com.google.Future") != nil
        )
        #expect(flip.appFlipTarget(for: "https://test.example.com/a/tool") != nil)
        #expect(flip["google"]?.redirectURIs.count { $0.form == .appFlip } == 15)
    }
}

@Suite struct RedirectMatchPropertyTests {
    static let registered = [
        "https://app.example.com/cb", "https://app.example.com/cb?tenant=1&x=%20",
        "https://app.example.com:8443",
        "com.example.app:/oauth2redirect", "http://127.0.0.1", "http://127.0.0.1:9004/cb?a=b",
        "http://[::1]/cb", "http://[::1]:9004", "https://oauth-redirect.googleusercontent.com/r/home-link-42",
    ]

    private static let interesting = Array(
        ":/?#@.%\\*&=+;0123456789abkAK \t\r\n\u{0}\u{E9}\u{212A}\u{FF0F}".unicodeScalars)
    private static let tails = ["/", "?x=1", "#x", ".", ":443", ":8080", "%2F", "/../cb", "@evil.example"]

    @Test(arguments: registered)
    func `matches no random change but that of a loopback port`(text: String) throws {
        let uri = try RegisteredRedirectURI(registering: text)
        var generator = SeededGenerator(seed: 8252)
        var matches = 0
        for _ in 0..<2000 {
            let changed = mutate(text, using: &generator)
            let isMatch = uri.target(for: changed) != nil
            if isMatch != isAllowed(changed, for: text) {
                Issue.record("\(changed.debugDescription) \(isMatch ? "matches" : "does not match")")
            }
            if isMatch { matches += 1 }
        }
        // Some changes change nothing, so the rule is seen from both sides.
        #expect(matches > 10)
    }

    @Test(arguments: registered.filter { $0.hasPrefix("http://") })
    func `matches a loopback URI on every port`(text: String) throws {
        let uri = try RegisteredRedirectURI(registering: text)
        let (origin, rest) = try #require(splitLoopback(text))
        for port in [1, 80, 443, 1024, 9004, 65535] {
            let request = "\(origin):\(port)\(rest)"
            #expect(uri.target(for: request)?.text == request)
        }
        for port in ["0", "00", "09004", "65536", "99999", "100000", "+80", "8 0", "", "8e1", "\u{661}"] {
            #expect(uri.target(for: "\(origin):\(port)\(rest)") == nil, "\(port)")
        }
    }

    @Test func `compares bytes, not canonical equivalence`() throws {
        // U+212A is canonically equivalent to K, and U+037E to a semicolon.
        let uri = try RegisteredRedirectURI(registering: "https://app.example.com/K;x")
        #expect(uri.target(for: "https://app.example.com/\u{212A};x") == nil)
        #expect(uri.target(for: "https://app.example.com/K\u{37E}x") == nil)
        #expect(uri.target(for: "https://app.example.com/K;x") != nil)
        let loopback = try RegisteredRedirectURI(registering: "http://127.0.0.1/K")
        #expect(loopback.target(for: "http://127.0.0.1:80/\u{212A}") == nil)
    }

    /// The rule, implemented a second time and differently.
    private func isAllowed(_ request: String, for registered: String) -> Bool {
        if Array(request.utf8) == Array(registered.utf8) { return true }
        // A regular expression takes long, and most changes do not need it.
        guard registered.hasPrefix("http:"), request.utf8.starts(with: "http://".utf8),
            let mine = splitLoopback(registered), let theirs = splitLoopback(request)
        else { return false }
        return mine.origin == theirs.origin && Array(mine.rest.utf8) == Array(theirs.rest.utf8)
    }

    private func splitLoopback(_ text: String) -> (origin: String, rest: String)? {
        let pattern = /(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::([1-9][0-9]{0,4}))?((?:[\/?][\s\S]*)?)/
            .matchingSemantics(.unicodeScalar)
        guard let match = text.wholeMatch(of: pattern), match.2.map({ Int($0) ?? 0 <= 65535 }) ?? true else {
            return nil
        }
        return (String(match.1), String(match.3))
    }

    /// One to three changes of the kind that attackers try.
    private func mutate(_ text: String, using generator: inout SeededGenerator) -> String {
        var scalars = Array(text.unicodeScalars)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let position = Int.random(in: 0...scalars.count, using: &generator)
            let scalar = Self.interesting[Int.random(in: 0..<Self.interesting.count, using: &generator)]
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: scalars.insert(scalar, at: position)
            case 1 where position < scalars.count: scalars.remove(at: position)
            case 2 where position < scalars.count: scalars[position] = scalar
            case 3 where position < scalars.count && scalars[position].isASCII:
                let digits = String(scalars[position].value, radix: 16)
                scalars.replaceSubrange(position...position, with: "%\(digits)".unicodeScalars)
            case 4:
                scalars += Self.tails[Int.random(in: 0..<Self.tails.count, using: &generator)].unicodeScalars
            case 5 where position < scalars.count:
                scalars.replaceSubrange(
                    position...position, with: String(scalars[position]).uppercased().unicodeScalars)
            case 6:
                // The beginning of this URI and the end of another one.
                let other = Array(
                    Self.registered[Int.random(in: 0..<Self.registered.count, using: &generator)]
                        .unicodeScalars)
                let cut = Int.random(in: 0...other.count, using: &generator)
                scalars.replaceSubrange(position..., with: other[cut...])
            default:
                // The port, where there is one.
                let changed = String(String.UnicodeScalarView(scalars)).replacing(
                    "9004", with: "\(UInt16.random(in: 0...65535, using: &generator))")
                scalars = Array(changed.unicodeScalars)
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
