import AppleAccounts
import Commits
import JOSE
import SecurityEvents
import SignIn
import StorageConformance
import StrictJSON
import TestSupport
import Testing

@testable import EventDelivery

/// Verification events by push.
@Suite struct VerificationPushTests {
    private static let name: ReceiverName = "backend"

    private struct World {
        let store = ReferenceStore()
        let clock = ManualClock(millisecondsSince1970: DeliveryWorld.start)
        let destination = ScriptedDestination()
        let key: TokenSigningKey
        let worker: EventDelivering

        var now: Moment { Moment(milliseconds: clock.millisecondsSince1970) }

        init() async throws {
            let key = try TokenSigningKey(pem: TokenSigningKey.makePEM(for: .ES256), algorithm: .ES256)
            self.key = key
            worker = EventDelivering(
                receivers: [
                    EventReceiver(
                        name: name, kinds: Set(AccountEvent.Kind.allCases), scope: .all,
                        format: SecurityEventFormat(issuer: PollWorld.issuer, audience: "billing") { key },
                        destination: destination)
                ], store: store, feed: EventFeed(), linger: .zero, clock: clock,
                now: { [clock] in Moment(milliseconds: clock.millisecondsSince1970) }, logger: .silent)
            try await store.addReceivers([name], at: now)
        }

        func ask(_ number: UInt64) async throws -> VerificationRequestResult {
            try await store.requestVerification(
                StreamVerification(id: EventID(UniqueID(high: 1, low: number)), state: "state \(number)"),
                of: name, at: now)
        }

        func turn() async throws {
            clock.advance(by: .milliseconds(200))
            for work in try await worker.claim(limit: EventDelivering.traits.width, at: now) {
                _ = await worker.perform(work)
            }
        }

        func pending() async throws -> StreamVerification? {
            try #require(try await store.receiver(name)).record.verification
        }
    }

    @Test func `a verification is pushed once, also without events`() async throws {
        let world = try await World()
        #expect(try await world.ask(1) == .accepted)
        try await world.turn()
        try await world.turn()
        #expect(world.destination.taken.count == 1)
        let message = try #require(world.destination.taken.first)
        let claims = try SecurityEventVerifier(issuer: PollWorld.issuer, audiences: ["billing"])
            .verify(message.text, at: world.now.milliseconds / 1000) { _ in world.key.verificationKey }
        #expect(claims.events.members.map(\.name) == [SecurityEventType.verification.uri])
        #expect(claims.events.members.first?.value["state"]?.string == "state 1")
        #expect(try await world.pending() == nil)
    }

    @Test func `a verification that the receiver does not take is not repeated, and delays no event`()
        async throws
    {
        let world = try await World()
        world.destination.follow { _ in throw DeliveryError(.refused, status: 400) }
        #expect(try await world.ask(1) == .accepted)
        try await world.turn()
        #expect(try await world.pending() == nil)
        world.destination.follow { _ in }
        try await world.store.signIn(.sample(receivedAt: world.now))
        try await world.turn()
        #expect(world.destination.attempts.count == 3)
        #expect(world.destination.taken.count == 2)
    }

    @Test func `a webhook with a secret gets no verification`() async throws {
        let world = try await DeliveryWorld()
        let verification = StreamVerification(id: EventID(UniqueID(high: 1, low: 1)), state: nil)
        let result = try await world.store.requestVerification(verification, of: "backend", at: world.now)
        #expect(result == .accepted)
        try await world.turn()
        #expect(try world.destination.attempts.isEmpty)
        #expect(try await world.stored().record.verification == nil)
    }
}
