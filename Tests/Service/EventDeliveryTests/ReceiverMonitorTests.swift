import AppleAccounts
import Commits
import CoreMetrics
import JOSE
import SignIn
import StorageConformance
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import EventDelivery

@Suite struct ReceiverMonitorTests {
    @Test func `the metrics have what waits for each receiver, and which are paused`() async throws {
        let world = try await DeliveryWorld(["backend", "mail"])
        let metrics = MeterRecorder()
        let monitor = ReceiverMonitor(
            receivers: Array(world.worker.receivers.values), store: world.store, clock: world.clock,
            factory: metrics)
        try world.destination.follow { _ in throw DeliveryError(.unreachable) }
        try await world.signIn(1)
        try await world.turn()
        await monitor.look()
        #expect(metrics.value("siwa_event_receiver_waiting", of: "backend") == 2)
        #expect(metrics.value("siwa_event_receiver_waiting", of: "mail") == 0)
        #expect(metrics.value("siwa_event_receiver_paused", of: "backend") == 0)
        try await world.turn(after: .seconds(8 * 86_400))
        await monitor.look()
        #expect(metrics.value("siwa_event_receiver_paused", of: "backend") == 1)
        #expect(metrics.value("siwa_event_receiver_paused", of: "mail") == 0)
    }
}

/// Keeps the last value of each meter.
private final class MeterRecorder: MetricsFactory {
    private final class Cell: MeterHandler {
        let last = Mutex<Double?>(nil)

        func set(_ value: Int64) { last.withLock { $0 = Double(value) } }
        func set(_ value: Double) { last.withLock { $0 = value } }
        func increment(by amount: Double) {}
        func decrement(by amount: Double) {}
    }

    private let cells = Mutex<[String: Cell]>([:])

    func value(_ label: String, of receiver: String) -> Double? {
        cells.withLock { $0["\(label) \(receiver)"] }?.last.withLock { $0 }
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        let cell = Cell()
        cells.withLock { $0["\(label) \(dimensions.first?.1 ?? "")"] = cell }
        return cell
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        NOOPMetricsHandler.instance
    }
    func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler { NOOPMetricsHandler.instance }
    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler { NOOPMetricsHandler.instance }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        NOOPMetricsHandler.instance
    }
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}

@Suite struct AbandonedReceiversTests {
    private static func watch(_ world: PollWorld) -> AbandonedReceivers {
        AbandonedReceivers(
            receivers: [world.receiver], store: world.store, clock: world.clock, now: { world.now },
            logger: .silent)
    }

    @Test func `a receiver that never polls is paused when an event has waited for seven days`() async throws
    {
        let world = try await PollWorld()
        let watch = Self.watch(world)
        world.clock.advance(by: .seconds(8 * 86_400))
        await watch.look(at: world.receiver)
        // There was nothing to take.
        #expect(try await world.stored().record.pausedAt == nil)
        try await world.signIn(1)
        world.clock.advance(by: .seconds(7 * 86_400 - 1))
        await watch.look(at: world.receiver)
        #expect(try await world.stored().record.pausedAt == nil)
        world.clock.advance(by: .seconds(1))
        await watch.look(at: world.receiver)
        #expect(try await world.stored().record.pausedAt == world.now)
    }

    @Test func `a receiver that took nothing and stays away is paused`() async throws {
        let world = try await PollWorld()
        try await world.signIn(1)
        _ = try await world.poll()
        world.clock.advance(by: .seconds(7 * 86_400))
        await Self.watch(world).look(at: world.receiver)
        #expect(try await world.stored().record.pausedAt == world.now)
    }

    @Test func `events of others pause no client`() async throws {
        let world = try await PollWorld(client: "shop")
        for user in 1...100 { try await world.signIn(user) }
        world.clock.advance(by: .seconds(8 * 86_400))
        await Self.watch(world).look(at: world.receiver)
        #expect(try await world.stored().record.pausedAt == nil)
    }

    @Test func `a resumed receiver has seven days again`() async throws {
        let world = try await PollWorld()
        let watch = Self.watch(world)
        try await world.signIn(1)
        world.clock.advance(by: .seconds(8 * 86_400))
        await watch.look(at: world.receiver)
        #expect(try await world.store.resumeReceiver("backend", at: world.now))
        await watch.look(at: world.receiver)
        #expect(try await world.stored().record.pausedAt == nil)
        #expect(try await world.poll().ids == [try await world.feedIDs()[0]])
    }
}

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

    @Test func `a verification that is not taken is not repeated, and delays no event`() async throws {
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
