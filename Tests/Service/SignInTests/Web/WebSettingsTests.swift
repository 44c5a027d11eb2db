import AppleAccounts
import Cryptography
import Encodings
import StorageConformance
import Testing

@testable import SignIn

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
    func `knows Apple's scopes`(text: String) {
        #expect(WebScope(text)?.rawValue == text)
    }

    @Test(arguments: ["", " ", "name ", "name  email", "name name", "openid", "Name", "name,email"])
    func `knows no other scope`(text: String) {
        #expect(WebScope(text) == nil)
    }

    @Test func `a nonce has a length that no minted nonce's digest has`() {
        let nonce = WebState.makeNonce()
        let read = SignInNonce(
            posted: nonce, claim: nonce, mint: NonceMint(key: .sample()), keptUntil: .last)
        #expect(read == nil)
        #expect(nonce != WebState.makeNonce())
    }
}

extension WebAuthentication {
    static let sample = WebAuthentication(
        accountID: AccountID(UniqueID(high: 1, low: 2)), clientID: "com.example.app",
        authenticatedAt: Moment(seconds: 3), begunAt: Moment(seconds: 2), signedInAt: Moment(seconds: 4))
}
