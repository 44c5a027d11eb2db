import AppleAccounts
import Cryptography
import Encodings
import StorageConformance
import Testing

@testable import SignIn

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
