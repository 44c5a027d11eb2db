import AppleAccounts
import Commits
import Cryptography
import Encodings
import Logging
import SignIn
import StorageConformance
import Synchronization
import TestSupport
import Testing

@testable import EventDelivery

/// Replicas that share a database and die in the middle of their work.
@Suite(.timeLimit(.hung)) struct ReplicaDeliveryTests {
    /// A clock that runs 500 times as fast, so that the claims of a dead replica end soon.
    private struct FastTime: Sendable {
        let began = ContinuousClock.now

        func now() -> Moment {
            let passed = (ContinuousClock.now - began).wholeMilliseconds
            return Moment(milliseconds: DeliveryWorld.start + passed * 500)
        }
    }

    @Test(arguments: 1...3)
    func `every event reaches every receiver, in order for each account, while replicas die`(
        seed: UInt64
    ) async throws {
        let store = ReferenceStore(seed: seed)
        let feed = EventFeed()
        let time = FastTime()
        let generator = Mutex(SeededGenerator(seed: seed))
        let names: [ReceiverName] = ["first", "second", "third"]
        let destinations = names.map { _ in
            ScriptedDestination { _ in
                await Task.yield()
                guard generator.withLock({ Int.random(in: 0..<10, using: &$0) > 0 }) else {
                    throw DeliveryError(.refused, status: 503)
                }
            }
        }
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let receivers = zip(names, destinations).map { name, destination in
            EventReceiver(
                name: name, kinds: Set(AccountEvent.Kind.allCases), scope: .all,
                format: WebhookFormat(secrets: [secret]), destination: destination)
        }
        try await store.addReceivers(names, at: time.now())
        @Sendable func replica() -> Task<Void, any Error> {
            let loop = ClaimLoop(
                EventDelivering(
                    receivers: receivers, store: store, feed: feed, linger: .milliseconds(5),
                    now: { time.now() }, logger: .silent))
            return Task { try await loop.run() }
        }
        var replicas = [replica(), replica()]
        for round in 0..<20 {
            for user in 1...8 {
                let moment = time.now()
                try await store.signIn(
                    .sample(
                        key: DeliveryWorld.key(user), authorizedAt: moment, firstName: "Ada \(round)",
                        receivedAt: moment))
                feed.advance(to: try await store.lastEventSequence())
            }
            let dead = replicas.removeFirst()
            dead.cancel()
            replicas.append(replica())
        }
        let events = try await store.allEvents()
        let ids = Set(events.map(\.id.rawValue))
        try await eventually { destinations.allSatisfy { Set($0.taken.map(\.eventID)) == ids } }
        for replica in replicas { replica.cancel() }
        for destination in destinations {
            var places: [String: Int] = [:]
            for (place, message) in destination.taken.enumerated() where places[message.eventID] == nil {
                places[message.eventID] = place
            }
            for (_, own) in Dictionary(grouping: events, by: \.accountID) {
                let order = own.compactMap { places[$0.id.rawValue] }
                #expect(order == order.sorted())
            }
        }
    }
}

/// Claims of receivers as another replica sees them.
@Suite struct ClaimWatchTests {
    private static func moment(_ milliseconds: Int64) -> Moment {
        Moment(milliseconds: DeliveryWorld.start + milliseconds)
    }

    private static func record(claims: Int64 = 1, end: Int64) -> ReceiverRecord {
        ReceiverRecord(name: "backend", cursor: 0, claims: claims, notBefore: moment(end))
    }

    /// Looks at these times. Returns the times at which the claim was silent.
    private static func silences(at times: [Int64], _ record: (Int64) -> ReceiverRecord) -> [Int64] {
        var watch = ClaimWatch()
        return times.filter { !watch.look(at: [record($0)], now: moment($0)).silent.isEmpty }
    }

    private static let halfSeconds = (0..<120).map { $0 * ClaimWatch.interval }

    @Test func `a claim that does not change is silent after three seconds`() {
        #expect(Self.silences(at: Self.halfSeconds) { _ in Self.record(end: 900_000) }.first == 3000)
    }

    @Test(arguments: [500, 1000, 2000, 2400] as [Int64])
    func `a claim that is written again is not silent`(interval: Int64) {
        let silences = Self.silences(at: Self.halfSeconds) {
            Self.record(end: $0 / interval * interval + 30_000)
        }
        #expect(silences == [])
    }

    @Test(arguments: [-25_000, -10_000, 10_000, 600_000] as [Int64])
    func `the clock of the other replica does not matter, as long as its claims are in the future`(
        ahead: Int64
    ) {
        let written = Self.silences(at: Self.halfSeconds) {
            Self.record(end: $0 / 1000 * 1000 + 30_000 + ahead)
        }
        #expect(written == [])
        let silent = Self.silences(at: [0, 1000, 2000, 3000]) { _ in Self.record(end: 30_000 + ahead) }
        #expect(silent == [3000])
    }

    @Test func `a claim of another holder is watched from its beginning`() {
        let silences = Self.silences(at: Self.halfSeconds) {
            Self.record(claims: $0 < 2500 ? 1 : 2, end: 900_000)
        }
        #expect(silences.first == 5500)
    }

    @Test func `a replica that writes its position alone gives a sign of life`() {
        let silences = Self.silences(at: Self.halfSeconds) { time in
            var record = Self.record(end: 900_000)
            record.cursor = time / 1000
            return record
        }
        #expect(silences == [])
    }

    @Test func `the time in which this replica could not look does not count`() {
        let silences = Self.silences(at: [0, 1000, 2000, 8000, 9000, 10_000, 11_000]) { _ in
            Self.record(end: 900_000)
        }
        #expect(silences == [11_000])
    }

    @Test func `a clock that was set back begins the time anew`() {
        let silences = Self.silences(at: [2000, 3000, 1000, 2000, 3000, 4000]) { _ in
            Self.record(end: 900_000)
        }
        #expect(silences == [4000])
    }

    @Test func `without a claim there is no next look`() {
        var watch = ClaimWatch()
        let next = [[Self.record(end: 0)], [], [Self.record(end: 1)]].map {
            watch.look(at: $0, now: Self.moment(0)).next
        }
        #expect(next == [nil, nil, Self.moment(500)])
    }
}

/// A store, a stopped clock, and the worker that delivers to some receivers.
struct DeliveryWorld {
    static let start: Int64 = 1_800_000_000_000

    let store = ReferenceStore()
    let feed = EventFeed()
    let clock = ManualClock(millisecondsSince1970: Self.start)
    let destinations: [ReceiverName: ScriptedDestination]
    let worker: EventDelivering

    var now: Moment { Moment(milliseconds: clock.millisecondsSince1970) }

    /// - Parameters:
    ///   - receivers: Names of receivers that want every event.
    ///   - makingMessage: Runs while a message is made.
    init(
        _ receivers: [ReceiverName] = ["backend"], kinds: Set<AccountEvent.Kind>? = nil,
        scope: AppScope = .all,
        makingMessage: @escaping @Sendable (ReferenceStore, ManualClock) async throws -> Void = { _, _ in }
    ) async throws {
        let destinations = Dictionary(uniqueKeysWithValues: receivers.map { ($0, ScriptedDestination()) })
        self.destinations = destinations
        let secret = try #require(
            WebhookSecret(WebhookSecret.prefix + Base64.encode(Array(repeating: 7, count: 32))))
        let work: @Sendable () async throws -> Void = { [store, clock] in
            try await makingMessage(store, clock)
        }
        worker = EventDelivering(
            receivers: receivers.compactMap { name in
                destinations[name].map {
                    EventReceiver(
                        name: name, kinds: kinds ?? Set(AccountEvent.Kind.allCases), scope: scope,
                        format: SlowFormat(base: WebhookFormat(secrets: [secret]), work: work),
                        destination: $0)
                }
            }, store: store, feed: feed, linger: .zero, clock: clock,
            now: { [clock] in Moment(milliseconds: clock.millisecondsSince1970) }, logger: .silent)
        try await store.addReceivers(receivers, at: now)
    }

    var destination: ScriptedDestination { get throws { try #require(destinations["backend"]) } }

    func signIn(_ user: Int, clientID: ClientID = "com.example.app", name: String? = nil) async throws {
        try await store.signIn(
            .sample(
                key: Self.key(user), clientID: clientID, authorizedAt: now, firstName: name,
                receivedAt: now))
    }

    static func key(_ user: Int) -> SubjectKey {
        .sample("\(String(repeating: "0", count: 6 - String(user).count))\(user).0123456789abcdef.0123")
    }

    /// Works on every receiver that can be claimed, once.
    func turn(after time: Duration = .milliseconds(200)) async throws {
        clock.advance(by: time)
        for work in try await worker.claim(limit: EventDelivering.traits.width, at: now) {
            _ = await worker.perform(work)
        }
    }

    /// IDs of events in the order of the feed.
    func feedIDs() async throws -> [String] { try await store.allEvents().map(\.id.rawValue) }

    func stored(_ name: ReceiverName = "backend") async throws -> ClaimedReceiver {
        try #require(try await store.receivers().first { $0.record.name == name })
    }
}

/// A format that takes its time.
private struct SlowFormat: EventFormat {
    let base: WebhookFormat
    let work: @Sendable () async throws -> Void

    func message(for event: AccountEvent, at moment: Moment) async throws -> EventMessage? {
        try await work()
        return base.message(for: event, at: moment)
    }
}

/// Takes messages as its script says, and records which it took.
final class ScriptedDestination: EventDestination {
    static let timeLimit: Int64 = 10_000

    typealias Script = @Sendable (EventMessage) async throws -> Void

    private let state: Mutex<(script: Script, attempts: [EventMessage], taken: [EventMessage])>

    init(_ script: @escaping Script = { _ in }) { state = Mutex((script, [], [])) }

    /// All attempts, in their order.
    var attempts: [EventMessage] { state.withLock { $0.attempts } }
    /// The messages that were taken, in their order.
    var taken: [EventMessage] { state.withLock { $0.taken } }

    func follow(_ script: @escaping Script) { state.withLock { $0.script = script } }

    func post(_ message: EventMessage, while mayBegin: @escaping @Sendable () -> Bool) async throws {
        let script = state.withLock { state in
            state.attempts.append(message)
            return state.script
        }
        try await script(message)
        state.withLock { $0.taken.append(message) }
    }
}

extension EventMessage {
    var eventID: String { fields["webhook-id"] ?? "" }
    var text: String { String(decoding: body, as: UTF8.self) }
}
