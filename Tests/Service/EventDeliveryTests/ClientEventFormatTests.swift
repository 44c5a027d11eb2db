import AppleAccounts
import AuthorizationServer
import Cryptography
import Encodings
import Foundation
import JOSE
import StorageConformance
import StrictJSON
import TestSupport
import Testing

@testable import EventDelivery

/// Events for OAuth clients: about whom, when, and with which contents.
@Suite struct ClientEventFormatTests {
    private static let purged = "https://schemas.openid.net/secevent/risc/event-type/account-purged"
    private static let disabled = "https://schemas.openid.net/secevent/risc/event-type/account-disabled"
    private static let revoked = "https://schemas.openid.net/secevent/oauth/event-type/tokens-revoked"
    private static let signedOut = "https://schemas.openid.net/secevent/caep/event-type/session-revoked"

    private static func world(_ client: OAuthClientID = "phone") async throws -> PollWorld {
        try await PollWorld(client: client, kinds: Set(ClientEvents.kinds))
    }

    /// Types of all events that the client gets, each taken before the next poll.
    private static func types(_ world: PollWorld, _ client: String = "phone") async throws -> [String] {
        var types: [String] = []
        var taken: [EventID] = []
        repeat {
            let response = try await world.poll(taken: taken)
            taken = response.ids
            for token in response.tokens {
                let claims = try world.claims(token, audience: client)
                types += claims["events"]?.object?.members.map(\.name) ?? []
            }
        } while !taken.isEmpty
        return types
    }

    private static func account(_ grant: GrantRecord, _ world: PollWorld) async throws -> Account {
        try #require(try await world.store.account(grant.accountID))
    }

    @Test func `a client learns of a disabled user who granted it something, by the name of its ID tokens`()
        async throws
    {
        let world = try await Self.world()
        let grant = try await world.store.link(1)
        try await world.store.change(DisableCommand.sample(try await Self.account(grant, world)))
        let response = try await world.poll()
        let token = try #require(response.tokens.first)
        let claims = try world.claims(token, audience: "phone")
        #expect(response.tokens.count == 1)
        #expect(claims["sub_id"]?["format"]?.string == "iss_sub")
        #expect(claims["sub_id"]?["iss"]?.string == PollWorld.issuer)
        #expect(claims["sub_id"]?["sub"]?.string == grant.accountID.rawValue)
        #expect(claims["events"]?.object?.members.map(\.name) == [Self.disabled])
        // Neither the reason, nor Apple's name of the user, nor the event of the feed.
        #expect(claims["events"]?[Self.disabled]?.object?.members.map(\.name) == ["event_timestamp"])
    }

    @Test func `a client learns nothing of users who granted nothing, or to another client`() async throws {
        let world = try await Self.world("shop")
        let linked = try await world.store.link(1)
        try await world.signIn(5)
        let stranger = try #require(
            try await world.store.allEvents().last { $0.kind == .accountCreated }?.accountID)
        for id in [linked.accountID, stranger] {
            let account = try #require(try await world.store.account(id))
            try await world.store.change(DisableCommand.sample(account))
            try await world.store.change(SignOutCommand.sample(account))
            try await world.store.erase(.sample(account: account))
        }
        #expect(try await Self.types(world, "shop").isEmpty)
    }

    @Test func `an erasure reaches the client whose grant it ended, without a name of the user`() async throws
    {
        let world = try await Self.world()
        let grant = try await world.store.link(1)
        try await world.store.erase(.sample(account: try await Self.account(grant, world)))
        // Both are still to be delivered, and the user is erased.
        let first = try await world.poll()
        let second = try await world.poll(taken: first.ids)
        let tokens = try (first.tokens + second.tokens).map { try world.claims($0, audience: "phone") }
        let types = tokens.flatMap { $0["events"]?.object?.members.map(\.name) ?? [] }
        #expect(types == [Self.revoked, Self.purged])
        let subject = SubjectKey.sample().subject.rawValue
        for claims in tokens {
            #expect(claims["sub_id"]?["sub"]?.string == grant.accountID.rawValue)
            let text = String(decoding: JSONValue.object(claims).serialized(), as: UTF8.self)
            #expect(!text.contains(subject))
            #expect(!text.contains("@"))
        }
    }

    @Test func `a client that had lost its grant before learns of no later event`() async throws {
        let world = try await Self.world()
        let grant = try await world.store.link(1)
        try await world.store.carryOut(
            .endAll(
                EndGrantsCommand(
                    accountID: grant.accountID, scope: .all, reason: .unlinked, moment: 2_300_000)))
        let account = try await Self.account(grant, world)
        try await world.store.change(DisableCommand.sample(account, at: 2_400_000))
        try await world.store.erase(.sample(account: account, at: 2_500_000))
        #expect(try await Self.types(world) == [Self.revoked])
    }

    @Test func `a grant that ends between the event and its delivery changes nothing`() async throws {
        let world = try await Self.world()
        let grant = try await world.store.link(1)
        try await world.store.change(DisableCommand.sample(try await Self.account(grant, world)))
        try await world.store.carryOut(
            .endAll(
                EndGrantsCommand(
                    accountID: grant.accountID, scope: .all, reason: .unlinked, moment: 2_300_000)))
        #expect(try await Self.types(world) == [Self.disabled, Self.revoked])
    }

    @Test func `a grant that is made after an event does not show the event`() async throws {
        let world = try await Self.world()
        try await world.store.signIn(.sample(authorizedAt: 1_000_000))
        let id = try #require(try await world.store.allEvents().first?.accountID)
        let account = try #require(try await world.store.account(id))
        try await world.store.change(SignOutCommand.sample(account, at: 1_500_000))
        try await world.store.link(1, authorizedAt: 2_000_000, at: 2_600_000)
        #expect(try await Self.types(world).isEmpty)
    }

    @Test func `a user who signs out everywhere is told to the clients that had grants`() async throws {
        let world = try await Self.world()
        let grant = try await world.store.link(1)
        try await world.store.change(SignOutCommand.sample(try await Self.account(grant, world)))
        #expect(try await Self.types(world) == [Self.revoked, Self.signedOut])
    }

    @Test func `a client that keeps its grant learns of the sign-out`() async throws {
        let world = try await Self.world()
        let grant = try await world.store.link(1)
        try await world.store.change(
            SignOutCommand.sample(try await Self.account(grant, world), keptClients: ["phone"]))
        #expect(try await Self.types(world) == [Self.signedOut])
    }

    @Test func `a client gets the events about its own grants only`() async throws {
        let world = try await Self.world("web")
        let grant = try await world.store.link(1)
        try await world.store.authorize(
            .sample(2, account: grant.accountID, client: "web", authenticatedAt: 1_000_000))
        try await world.store.erase(.sample(account: try await Self.account(grant, world)))
        #expect(try await Self.types(world, "web") == [Self.revoked, Self.purged])
    }
}

@Suite struct SecurityEventFormatTests {
    private static let issuer = "https://signin.example.com"

    @Test func `a message is a token about the event, for the receiver's audience`() async throws {
        let key = try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
        let format = SecurityEventFormat(issuer: Self.issuer, audience: "billing") { key }
        let store = ReferenceStore()
        try await store.signIn(.sample())
        let verifier = SecurityEventVerifier(issuer: Self.issuer, audiences: ["billing"])
        for event in try await store.allEvents() {
            let message = try #require(try await format.message(for: event, at: 1_800_000_000_999))
            #expect(message.fields["content-type"] == "application/secevent+jwt")
            let claims = try verifier.verify(message.text, at: 1_800_000_000) { _ in key.verificationKey }
            #expect(claims.id == event.id.rawValue)
            #expect(claims.issuedAt == 1_800_000_000)
            #expect(claims.events.members.map(\.name) == [event.kind.securityEventType.uri])
        }
    }

    @Test func `an event that no token can name a subject for is passed over`() async throws {
        let world = try await DeliveryWorld()
        let format = SecurityEventFormat(issuer: Self.issuer, audience: "billing") {
            throw JOSEError(.keyUnusable, detail: "no key is needed")
        }
        let event = AccountEvent(
            id: EventID(UniqueID(high: 1, low: 1)), kind: .credentialRevoked, team: "A1B2C3D4E5",
            subject: nil,
            moment: world.now, recordedAt: world.now)
        #expect(try await format.message(for: event, at: world.now) == nil)
    }
}

@Suite struct WebhookFormatTests {
    private static let text = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test func `a signature is that of the example of Standard Webhooks`() throws {
        let secret = try #require(WebhookSecret(Self.text))
        let signature = secret.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330,
            body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test(arguments: [
        "", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_", "whsec_c2hvcnQ=", "whsec_not base64",
        "whsec_" + Base64.encode(Array(repeating: 1, count: 65)),
    ])
    func `a text that is no secret is refused`(text: String) { #expect(WebhookSecret(text) == nil) }

    @Test func `signatures and secrets are those of the fixtures`() throws {
        let folder = ProjectFolder.root.appending(path: "Fixtures/webhooks")
        var compared = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let fixture = try JSONValue(parsing: Array(try Data(contentsOf: folder.appending(path: name))))
            let texts = (fixture["secrets"]?.string ?? "").split(separator: " ").map(String.init)
            let secrets = texts.compactMap { WebhookSecret($0) }
            let verdict = fixture["verdict"]?.string
            #expect((secrets.count < texts.count) == (verdict == "misconfigured"), "\(name)")
            guard verdict == "accepted", let body = fixture["body"]?.string,
                let id = fixture["headers"]?["webhook-id"]?.string,
                let time = fixture["headers"]?["webhook-timestamp"]?.string.flatMap({ Int64($0) }),
                let given = fixture["headers"]?["webhook-signature"]?.string?.split(separator: " ")
            else { continue }
            let made = secrets.map { $0.signature(id: id, timestamp: time, body: Array(body.utf8)) }
            #expect(made.contains { given.contains(Substring($0)) }, "\(name)")
            compared += 1
        }
        #expect(compared >= 9)
    }

    @Test func `a secret shows nothing of itself`() throws {
        let secret = try #require(WebhookSecret(Self.text))
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(!(dumped + "\(secret)").contains("MfKQ"))
    }

    @Test func `the body is the event as in the feed, and two secrets sign it`() async throws {
        let store = ReferenceStore()
        try await store.signIn(.sample())
        let event = try #require(try await store.allEvents().first)
        let other = try #require(WebhookSecret("whsec_" + Base64.encode(Array(repeating: 9, count: 24))))
        let format = WebhookFormat(secrets: [try #require(WebhookSecret(Self.text)), other])
        let message = try #require(format.message(for: event, at: 1_800_000_000_999))
        var json = JSONWriter()
        event.write(into: &json)
        #expect(message.body == json.bytes)
        #expect(message.fields["webhook-id"] == event.id.rawValue)
        #expect(message.fields["webhook-timestamp"] == "1800000000")
        #expect(message.fields["content-type"] == "application/json")
        let signatures = try #require(message.fields["webhook-signature"]).split(separator: " ")
        #expect(signatures.count == 2)
        // An attempt later has another time, and so another signature.
        let later = try #require(format.message(for: event, at: 1_800_000_005_000))
        #expect(later.fields["webhook-signature"] != message.fields["webhook-signature"])
        #expect(later.fields["webhook-id"] == message.fields["webhook-id"])
    }
}
