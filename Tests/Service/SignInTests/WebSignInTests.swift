import AppleAccounts
import AppleIdentity
import Cryptography
import Encodings
import KeySets
import StorageConformance
import StrictJSON
import Testing

@testable import SignIn

/// Stored values of a sign-in in a browser, and the moments of storing them.
@Suite struct WebSignInTests {
    static let webClientID: ClientID = "com.example.web"

    private func web(_ subject: Subject) throws -> WebSignIn {
        let key = try #require(SealingKey(name: "a", bytes: Array(repeating: 7, count: 32)))
        return WebSignIn(
            settings: try WebSignIn.Settings(
                publicURL: "https://siwa.example",
                redirectURLs: [Self.webClientID: "https://app.example/apple"],
                authorizeURL: "https://appleid.apple.com/auth/authorize"),
            useCases: subject.useCases, sealingKeys: try #require(SealingKeyRing([key])),
            tickets: subject.store, now: subject.useCases.now)
    }

    private func begin(_ web: WebSignIn) throws -> WebState {
        let redirect = try web.begin(clientID: nil, callerState: nil, scope: .nameAndEmail, cookie: nil)
        let pair = redirect.location.split(separator: "&").first { $0.hasPrefix("state=") }
        return try web.readState(pair.map { String($0.dropFirst(6)) })
    }

    private func token(_ webState: WebState, _ changes: [String: JSONValue?] = [:]) throws -> String {
        let hash = Base64URL.encode(SHA256Digest.hash("code").prefix(16))
        let own: [String: JSONValue?] = [
            "aud": .string("com.example.web"), "nonce": .string(webState.nonce), "c_hash": .string(hash),
        ]
        return try Subject.token(0, own.merging(changes) { $1 })
    }

    @Test func `keeps the cookie's secret that the browser has, and only one of ours`() throws {
        let web = try web(Subject())
        func begin(_ cookie: String?) throws -> String {
            try web.begin(clientID: nil, callerState: nil, scope: .nameAndEmail, cookie: cookie).browser.text
        }
        let first = try begin(nil)
        #expect(try begin(first) == first)
        #expect(try begin("attack") != "attack")
        #expect(try begin(nil) != first)
    }

    @Test(arguments: [["nonce": "other"], ["aud": "com.example.app"], ["c_hash": "AAAAAAAAAAAAAAAAAAAAAA"]])
    func `a refused token does not use the state up`(changes: [String: String]) async throws {
        let subject = try Subject()
        let web = try web(subject)
        let webState = try begin(web)
        await #expect(throws: AppleTokenError.self) {
            _ = try await web.handleCallback(
                webState, identityToken: try token(webState, changes.mapValues { .string($0) }),
                authorizationCode: "code", user: nil)
        }
        #expect(try await subject.store.allEvents().isEmpty)
        _ = try await web.handleCallback(
            webState, identityToken: try token(webState), authorizationCode: "code", user: nil)
        await #expect(throws: WebRefusal(.stateUsed)) {
            _ = try await web.handleCallback(
                webState, identityToken: try token(webState, ["email": .string("other@example.com")]),
                authorizationCode: "code", user: nil)
        }
    }

    @Test func `a form that one browser posts twice ends as the first did`() async throws {
        let subject = try Subject()
        let web = try web(subject)
        let redirect = try web.begin(clientID: nil, callerState: "s%2F1", scope: .nameAndEmail, cookie: nil)
        let pair = try #require(redirect.location.split(separator: "&").first { $0.hasPrefix("state=") })
        let webState = try web.readState(String(pair.dropFirst(6)))
        let form = try token(webState)
        @Sendable func post() async throws -> WebArrival {
            let end = try await web.handleCallback(
                webState, identityToken: form, authorizationCode: "code", user: nil)
            let ticket = end.url.split(separator: "=", maxSplits: 1).last.map(String.init)
            return try web.finish(ticket: ticket, cookie: redirect.browser.text)
        }
        // At the same time, as by a double click, and later, as by a reload.
        async let first = post()
        async let second = post()
        let ends = [try await first, try await second, try await post()]
        #expect(Set(ends).count == 1 && ends.count == 3, "\(ends)")
        guard case .appPage(let location) = ends[0] else { throw WebRefusal(.ticketInvalid) }
        #expect(location.hasPrefix("https://app.example/apple?code=") && location.hasSuffix("&state=s%2F1"))
        let events = try await subject.store.allEvents().map(\.kind)
        #expect(events.contains(.accountCreated) && Set(events).count == events.count)
    }

    @Test func `a refused form that one browser posts again is refused as the first was`() async throws {
        let subject = try Subject()
        let web = try web(subject)
        _ = try await subject.useCases.commitNotification(try Subject.notification(at: 5))
        let redirect = try web.begin(clientID: nil, callerState: "s%2F1", scope: .nameAndEmail, cookie: nil)
        let pair = try #require(redirect.location.split(separator: "&").first { $0.hasPrefix("state=") })
        let webState = try web.readState(String(pair.dropFirst(6)))
        let form = try token(webState)
        @Sendable func post() async throws -> WebArrival {
            let url: String
            do {
                url = try await web.handleCallback(
                    webState, identityToken: form, authorizationCode: "code", user: nil
                ).url
            } catch let refusal as AccountRefusal {
                url = web.refusalURL(.signInRefused(refusal.code.rawValue), for: webState)
            }
            let ticket = url.split(separator: "=", maxSplits: 1).last.map(String.init)
            return try web.finish(ticket: ticket, cookie: redirect.browser.text)
        }
        async let first = post()
        async let second = post()
        let ends = [try await first, try await second, try await post()]
        let refused = WebArrival.appPage(
            "https://app.example/apple?error=sign_in_refused&error_description=credential_revoked&state=s%2F1"
        )
        #expect(ends == [refused, refused, refused])
        #expect(try await !subject.store.allEvents().map(\.kind).contains(.accountCreated))
    }

    @Test func `a state is remembered for longer than it would pass`() async throws {
        let subject = try Subject()
        let web = try web(subject)
        let webState = try begin(web)
        _ = try await web.handleCallback(
            webState, identityToken: try token(webState), authorizationCode: "code", user: nil)
        // The clock of another replica is behind: it would still take the state.
        let end = webState.expiresAt.advanced(byMilliseconds: 60_000)
        while try await subject.store.purgeTickets(expiredBefore: end) > 0 {}
        await #expect(throws: WebRefusal(.stateUsed)) {
            _ = try await web.handleCallback(
                webState, identityToken: try token(webState, ["email": .string("other@example.com")]),
                authorizationCode: "code", user: nil)
        }
    }

    @Test func `verifies its token once`() async throws {
        let subject = try Subject()
        let web = try web(subject)
        let webState = try begin(web)
        _ = try await web.handleCallback(
            webState, identityToken: try token(webState), authorizationCode: "code", user: nil)
        #expect(subject.keys.lookupCount == 1)
    }

    @Test func `garbage causes no fetch of keys`() async throws {
        let keys = StubKeys()
        let web = try web(Subject(keys: keys))
        let webState = try begin(web)
        await #expect(throws: AppleTokenError(.tokenMalformed)) {
            _ = try await web.handleCallback(
                webState, identityToken: "a.b", authorizationCode: "code", user: nil)
        }
        #expect(keys.fetchCount == 0)
    }

    @Test func `a result whose account is gone is not found`() async throws {
        let web = try web(Subject())
        let webState = try begin(web)
        let location = try await web.handleCallback(
            webState, identityToken: try token(webState), authorizationCode: "code", user: nil)
        #expect(location.url.hasPrefix("https://siwa.example/v1/web/finish?ticket="))
        let other = try Subject()
        let result = WebResult(
            accountID: AccountID(UniqueID(high: 1, low: 1)), clientID: "com.example.app", isNewAccount: false)
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            _ = try await other.useCases.outcome(of: result, allowed: .all)
        }
    }
}

extension WebSignIn {
    /// Handles a form for an app's page that is told of refusals by the account rules alone.
    fileprivate func handleCallback(
        _ webState: WebState, identityToken: String, authorizationCode: String, user: UserProfile?
    ) async throws -> (url: String, isRepeated: Bool) {
        try await handleCallback(
            webState, identityToken: identityToken, authorizationCode: authorizationCode, user: user
        ) { ($0 as? AccountRefusal).map { .signInRefused($0.code.rawValue) } }
    }
}

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
    func `refuses any other`(url: String) { #expect(WebURL(url) == nil) }
}

@Suite struct WebSettingsTests {
    static let authorizeURL = "https://appleid.apple.com/auth/authorize"

    private func settings(
        _ publicURL: String = "https://siwa.example",
        _ redirectURLs: [ClientID: String] = ["com.example.web": "https://app.example/apple"],
        _ authorizeURL: String = Self.authorizeURL, plain: Bool = false
    ) throws(WebSettingsError) -> WebSignIn.Settings {
        try WebSignIn.Settings(
            publicURL: publicURL, redirectURLs: redirectURLs, authorizeURL: authorizeURL,
            allowsPlainHTTP: plain)
    }

    @Test(arguments: ["https://siwa.example", "https://siwa.example/"])
    func `the return URL stands under the public one`(publicURL: String) throws {
        #expect(try settings(publicURL).callbackURL == "https://siwa.example/v1/web/callback")
        #expect(
            try settings(publicURL + (publicURL.hasSuffix("/") ? "" : "/") + "auth/").callbackURL
                == "https://siwa.example/auth/v1/web/callback")
    }

    @Test func `a cookie is bound to its host wherever TLS is`() throws {
        #expect(try settings().cookieName == "__Host-siwa_web")
        #expect(try settings("http://localhost:8080", plain: true).cookieName == "siwa_web")
    }

    @Test(arguments: [
        "http://siwa.example", "https://siwa.example?x=1", "siwa.example", "", "https://u@siwa.example",
    ])
    func `a public URL that browsers must not use is refused`(publicURL: String) {
        #expect(throws: WebSettingsError(.publicURLMalformed, detail: "")) { try settings(publicURL) }
    }

    @Test func `every web client needs a page to come back to`() {
        #expect(throws: WebSettingsError(.redirectURLsMissing, detail: "")) {
            try settings("https://siwa.example", [:])
        }
        #expect(throws: WebSettingsError(.redirectURLMalformed, detail: "")) {
            try settings("https://siwa.example", ["com.example.web": "https://app.example/#here"])
        }
        #expect(throws: WebSettingsError(.authorizeURLMalformed, detail: "")) {
            try settings("https://siwa.example", ["com.example.web": "https://app.example"], "/authorize")
        }
    }

    @Test func `plain HTTP is for development only`() throws {
        let pages: [ClientID: String] = ["com.example.web": "http://app.example"]
        #expect(throws: WebSettingsError(.redirectURLMalformed, detail: "")) {
            try settings("https://siwa.example", pages)
        }
        #expect(throws: WebSettingsError(.authorizeURLMalformed, detail: "")) {
            try settings(
                "https://siwa.example", ["com.example.web": "https://a.example"], "http://emulator/a")
        }
        let local = try settings("http://siwa.example", pages, "http://emulator:9000/auth", plain: true)
        #expect(!local.isSecure)
    }

    @Test func `an error does not show addresses`() {
        let error = WebSettingsError(.publicURLMalformed, detail: "https://user:secret@host")
        #expect(!error.description.contains("secret"))
        #expect(error.debugDescription.contains("secret"))
    }
}

@Suite struct WebSealTests {
    static let state = WebState(
        nonce: "n0nce", browserDigest: Array(repeating: 1, count: 32), clientID: "com.example.web",
        expiresAt: Moment(seconds: 1_767_225_600), destination: .appPage(state: "a%20b"))

    private func seal(_ names: String..., byte: UInt8 = 7) throws -> WebSeal {
        let keys = names.compactMap { SealingKey(name: $0, bytes: Array(repeating: byte, count: 32)) }
        return WebSeal(keys: try #require(SealingKeyRing(keys)))
    }

    @Test func `what was sealed opens for its purpose only`() throws {
        let seal = try seal("a")
        let text = seal.seal(Self.state.json, for: .state)
        #expect(seal.open(text, for: .state).flatMap { WebState(json: $0) } == Self.state)
        #expect(seal.open(text, for: .ticket) == nil)
        #expect(!text.contains("n0nce"))
    }

    @Test func `a key that was rotated still opens, another does not`() throws {
        let text = try seal("old").seal(Self.state.json, for: .state)
        #expect(try seal("new", "old").open(text, for: .state) != nil)
        #expect(try seal("new").open(text, for: .state) == nil)
        #expect(try seal("old", byte: 8).open(text, for: .state) == nil)
    }

    @Test func `every changed byte is noticed`() throws {
        let seal = try seal("a")
        let sealed = try #require(Base64URL.decode(seal.seal(Self.state.json, for: .state)))
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(seal.open(Base64URL.encode(changed), for: .state) == nil)
        }
    }

    @Test(arguments: ["", "a", "=", "é", String(repeating: "A", count: 8193)])
    func `what is no sealed text does not open`(text: String) throws {
        #expect(try seal("a").open(text, for: .state) == nil)
    }

    @Test(arguments: [
        WebTicket.Outcome.code("c0de"), .failure(.fromApple("access_denied")),
        .failure(.invalidIdentityToken("nonce_mismatch")), .authentication(.sample),
    ])
    func `a ticket is read as it was written`(outcome: WebTicket.Outcome) {
        let destinations: [WebDestination] = [
            .appPage(state: nil), .appPage(state: "s"), .authorization(query: "client_id=c&scope=a%20b"),
        ]
        for destination in destinations {
            let ticket = WebTicket(
                browserDigest: [1, 2], clientID: "com.example.web", expiresAt: Moment(milliseconds: 5),
                destination: destination, outcome: outcome)
            #expect(WebTicket(json: ticket.json) == ticket)
        }
    }

    @Test(arguments: ["", "{}", "[]", #"{"browser":"AQ","client_id":"c","expires":1}"#, #"{"code":"c"}"#])
    func `what is none is not read`(json: String) {
        #expect(WebTicket(json: Array(json.utf8)) == nil)
        #expect(WebState(json: Array(json.utf8)) == nil)
        #expect(WebResult(json: Array(json.utf8)) == nil)
    }

    @Test(arguments: ["name", "email", "name email", "email name"])
    func `knows Apple's scopes`(text: String) { #expect(WebScope(text)?.rawValue == text) }

    @Test(arguments: ["", " ", "name ", "name  email", "name name", "openid", "Name", "name,email"])
    func `knows no other scope`(text: String) { #expect(WebScope(text) == nil) }

    @Test func `a nonce has a length that no minted nonce's digest has`() {
        let nonce = WebState.makeNonce()
        let read = SignInNonce(posted: nonce, claim: nonce, mint: NonceMint(key: .sample()), keptUntil: .last)
        #expect(read == nil)
        #expect(nonce != WebState.makeNonce())
    }
}

extension WebAuthentication {
    static let sample = WebAuthentication(
        accountID: AccountID(UniqueID(high: 1, low: 2)), clientID: "com.example.app",
        authenticatedAt: Moment(seconds: 3), begunAt: Moment(seconds: 2), signedInAt: Moment(seconds: 4))
}
