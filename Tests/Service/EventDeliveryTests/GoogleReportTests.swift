import AppleAccounts
import AuthorizationServer
import Commits
import Cryptography
import Encodings
import JOSE
import SignIn
import StorageConformance
import StrictJSON
import TestSupport
import Testing

@testable import EventDelivery

/// Reports to Google of refresh tokens that have ended.
@Suite struct GoogleReportTests {
    private static let issuer = "https://signin.example.com"
    private static let key = Result {
        try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .RS256), algorithm: .RS256)
    }

    /// A store with users who have linked Google, and the worker that tells Google.
    private struct World {
        let store = ReferenceStore()
        let clock = ManualClock(millisecondsSince1970: DeliveryWorld.start)
        let google = ScriptedDestination()
        let worker: EventDelivering

        var now: Moment { Moment(milliseconds: clock.millisecondsSince1970) }

        init() async throws {
            let key = try GoogleReportTests.key.get()
            let receiver = EventReceiver(
                name: .google, kinds: GoogleReportFormat.kinds, scope: .all,
                format: GoogleReportFormat(issuer: GoogleReportTests.issuer) { key }, destination: google)
            worker = EventDelivering(
                receivers: [receiver], store: store, feed: EventFeed(), linger: .zero, clock: clock,
                now: { [clock] in Moment(milliseconds: clock.millisecondsSince1970) }, logger: .silent)
            try await store.addReceivers([.google], at: now)
        }

        /// Links the user of this number, and ends the link in the app.
        func unlink(_ number: UInt64) async throws {
            let grant = try await store.link(
                number, key: .sample("user-\(number)"), client: "google", isNative: false, forGoogle: true)
            _ = try await store.carryOut(.end(.sample(grant.id, of: grant.accountID)))
        }

        func turn(after time: Duration = .milliseconds(200)) async throws {
            clock.advance(by: time)
            for work in try await worker.claim(limit: 8, at: now) { _ = await worker.perform(work) }
        }

        func stored() async throws -> ClaimedReceiver { try #require(try await store.receivers().first) }

        /// Fails the reports of these users with 400.
        func refuse(_ numbers: Set<UInt64>) {
            let hashes = numbers.map { GoogleReportTests.hash($0) }
            google.follow { message in
                let told = try GoogleReportTests.tokenHash(message)
                if hashes.contains(told) { throw DeliveryError(.eventRefused, status: 400) }
            }
        }
    }

    private static func hash(_ number: UInt64) -> String {
        Hexadecimal.encode(SampleToken(family: number).doubleSHA512.bytes)
    }

    private static func claims(_ message: EventMessage) throws -> JSONValue {
        try JSONValue(parsing: try #require(JWSSegments(compact: message.text)).payload)
    }

    private static func tokenHash(_ message: EventMessage) throws -> String {
        let type = "https://schemas.openid.net/secevent/oauth/event-type/token-revoked"
        return try #require(try claims(message)["events"]?[type]?["token"]?.string)
    }

    @Test func `a report names the token by its double hash, and no user`() async throws {
        let world = try await World()
        try await world.unlink(1)
        try await world.turn()
        let message = try #require(world.google.taken.first)
        #expect(world.google.taken.count == 1)
        #expect(message.fields["content-type"] == "application/secevent+jwt")
        let segments = try #require(JWSSegments(compact: message.text))
        #expect(try JSONValue(parsing: segments.header)["typ"]?.string == "secevent+jwt")
        #expect(try JSONValue(parsing: segments.header)["alg"]?.string == "RS256")
        let claims = try Self.claims(message)
        #expect(claims["iss"]?.string == Self.issuer)
        #expect(claims["aud"]?.string == "google_account_linking")
        #expect(claims.object?.members.map(\.name).sorted() == ["aud", "events", "iat", "iss", "jti"])
        #expect(try Self.tokenHash(message) == Self.hash(1))
        let event = try #require(try await world.store.allEvents().last)
        #expect(claims["jti"]?.string == event.id.rawValue)
        #expect(claims["iat"]?.integer == event.recordedAt.milliseconds / 1000)
    }

    @Test func `what Google is not told of leaves no request`() async throws {
        let world = try await World()
        let grant = try await world.store.link(1)
        _ = try await world.store.carryOut(.end(.sample(grant.id, of: grant.accountID)))
        try await world.turn()
        #expect(world.google.attempts.isEmpty)
        let last = try await world.store.lastEventSequence()
        #expect(try await world.stored().record.cursor == last)
        #expect(try await world.stored().retries.isEmpty)
    }

    @Test func `an erased user is reported, and what waits for Google names no user`() async throws {
        let world = try await World()
        world.google.follow { _ in throw DeliveryError(.refused, status: 503) }
        let grant = try await world.store.link(
            1, client: "google", isNative: false, forGoogle: true, authorizedAt: 1000)
        let account = try #require(try await world.store.account(grant.accountID))
        try await world.store.erase(.sample(account: account, at: 9000))
        try await world.turn()
        world.google.follow { _ in }
        try await world.turn(after: .seconds(10))
        let message = try #require(world.google.taken.first)
        #expect(try Self.tokenHash(message) == Self.hash(1))
        let payload = try #require(JWSSegments(compact: message.text)).payload
        let text = String(decoding: payload, as: UTF8.self)
        #expect(!text.contains(account.subject.rawValue) && !text.contains(account.id.rawValue))
    }

    @Test func `a report is sent again with the same jti, and an outage of seven days pauses the reports`()
        async throws
    {
        let world = try await World()
        world.google.follow { _ in throw DeliveryError(.refused, status: 500) }
        try await world.unlink(1)
        var steps = 0
        while try await world.stored().record.pausedAt == nil, steps < 2000 {
            try await world.turn(after: .seconds(600))
            steps += 1
        }
        let days = Double(world.now.milliseconds - DeliveryWorld.start) / 86_400_000
        #expect((7.0...7.1).contains(days))
        #expect((100...300).contains(world.google.attempts.count))
        #expect(Set(try world.google.attempts.map { try Self.claims($0)["jti"]?.string }).count == 1)
        // Resumed, nothing is lost.
        world.google.follow { _ in }
        try await world.unlink(2)
        #expect(try await world.store.resumeReceiver(.google, at: world.now))
        try await world.turn()
        #expect(Set(try world.google.taken.map(Self.tokenHash)) == [Self.hash(1), Self.hash(2)])
    }

    @Test func `a report that was sent and not recorded is sent again`() async throws {
        let world = try await World()
        try await world.unlink(1)
        // A process that dies after the claim.
        #expect(
            try await world.worker.store.claimReceivers(
                [.google], at: world.now,
                leaseUntil: world.now.advanced(byMilliseconds: EventDelivering.lease)
            ).count == 1)
        try await world.turn(after: .seconds(29))
        #expect(world.google.attempts.isEmpty)
        try await world.turn(after: .seconds(2))
        #expect(world.google.taken.count == 1)
    }

    @Test func `a report that Google refuses delays no other, and ends after ten attempts`() async throws {
        let world = try await World()
        world.refuse([1])
        try await world.unlink(1)
        try await world.turn()
        try await world.unlink(2)
        try await world.turn()
        #expect(try world.google.taken.map(Self.tokenHash) == [Self.hash(2)])
        var attempts = 1
        while try await !world.stored().retries.isEmpty, attempts < 20 {
            try await world.turn(after: .seconds(4000))
            attempts += 1
        }
        #expect(attempts == Int(ReceiverTurn.mostRefusals))
        #expect(world.google.attempts.count == attempts + 1)
        #expect(try await world.stored().record.pausedAt == nil)
        // Nothing of it is sent any more.
        try await world.turn(after: .seconds(86_400))
        #expect(world.google.attempts.count == attempts + 1)
    }

    /// Otherwise a wrong issuer, which Google refuses with 400 each time, would lose every report.
    @Test func `an event that is none for Google does not show that Google takes others`() async throws {
        let world = try await World()
        world.refuse([1])
        try await world.unlink(1)
        try await world.turn()
        for number in 2...UInt64(2 * ReceiverTurn.mostRefusals + 1) {
            let grant = try await world.store.link(number, key: .sample("user-\(number)"))
            _ = try await world.store.carryOut(.end(.sample(grant.id, of: grant.accountID)))
            try await world.turn(after: .seconds(6000))
        }
        #expect(try await world.stored().retries.map(\.attempts) == [2 * ReceiverTurn.mostRefusals + 1])
    }

    @Test func `while Google takes nothing, a report is tried for seven days and pauses nothing`()
        async throws
    {
        let world = try await World()
        world.refuse([1, 2])
        try await world.unlink(1)
        try await world.unlink(2)
        try await world.turn()
        while Double(world.now.milliseconds - DeliveryWorld.start) < 6.9 * 86_400_000 {
            try await world.turn(after: .seconds(3600))
        }
        #expect(try await world.stored().retries.count == 2)
        for _ in 0..<6 { try await world.turn(after: .seconds(3700)) }
        #expect(try await world.stored().retries.isEmpty)
        #expect(try await world.stored().record.pausedAt == nil)
        // The stream goes on.
        world.google.follow { _ in }
        try await world.unlink(3)
        try await world.turn()
        #expect(try world.google.taken.map(Self.tokenHash) == [Self.hash(3)])
    }

    @Test func `the report is the same event as the feed's, which has nothing of the token`() async throws {
        let world = try await World()
        try await world.unlink(1)
        let event = try #require(try await world.store.allEvents().last)
        #expect(event.grant?.endedToken == SampleToken(family: 1).doubleSHA512)
        var json = JSONWriter(reservingCapacity: 512)
        event.write(into: &json)
        let text = String(decoding: json.bytes, as: UTF8.self)
        let digest = try #require(event.grant?.endedToken).bytes
        for form in [Hexadecimal.encode(digest), Base64.encode(digest), Base64URL.encode(digest), "token\""] {
            #expect(!text.contains(form))
        }
    }
}
