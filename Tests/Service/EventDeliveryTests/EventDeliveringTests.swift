import AppleAccounts
import Commits
import KeySets
import Logging
import SignIn
import StorageConformance
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import EventDelivery

/// Deliveries to receivers that answer, refuse and hang.
@Suite struct EventDeliveringTests {
    private let world: DeliveryWorld

    init() async throws { world = try await DeliveryWorld() }

    private static let refusal = DeliveryError(.refused, status: 500)

    @Test func `a receiver gets every event once, in the order of the feed`() async throws {
        for user in 1...40 { try await world.signIn(user) }
        try await world.turn()
        let taken = try world.destination.taken
        #expect(Set(taken.map(\.eventID)) == Set(try await world.feedIDs()))
        #expect(taken.count == 80)
        #expect(try await world.stored().record.cursor == 80)
        try await world.turn()
        #expect(try world.destination.taken.count == 80)
    }

    @Test func `a new receiver begins at the end of the feed`() async throws {
        let world = try await DeliveryWorld([])
        try await world.signIn(1)
        try await world.store.addReceivers(["late"], at: world.now)
        #expect(try await world.stored("late").record.cursor == 2)
    }

    @Test func `a receiver gets only the events that it wants`() async throws {
        let world = try await DeliveryWorld(kinds: [.profileChanged])
        try await world.signIn(1)
        try await world.signIn(1, name: "Ada")
        try await world.turn()
        let taken = try world.destination.taken
        #expect(taken.count == 1)
        #expect(taken.first?.text.contains("\"type\":\"profile_changed\"") == true)
        #expect(try await world.stored().record.cursor == 3)
    }

    @Test func `a receiver that is limited to apps gets the events of other apps not`() async throws {
        let world = try await DeliveryWorld(scope: .only(["com.example.app"]))
        try await world.signIn(1, clientID: "com.example.other")
        try await world.signIn(2)
        try await world.turn()
        #expect(try world.destination.taken.count == 2)
        #expect(try world.destination.taken.allSatisfy { !$0.text.contains("com.example.other") })
    }

    @Test func `an event that is refused holds back its account, and no other`() async throws {
        try await world.signIn(1)
        try await world.signIn(2)
        let first = try #require(try await world.feedIDs().first)
        try world.destination.follow { if $0.eventID == first { throw Self.refusal } }
        try await world.turn()
        let ids = try await world.feedIDs()
        #expect(try world.destination.taken.map(\.eventID) == Array(ids[2...]))
        // Later events of the account wait behind it too.
        try await world.signIn(1, name: "Ada")
        try await world.turn()
        #expect(try await world.stored().retries.map(\.sequence) == [1, 2, 5])
        #expect(try await world.stored().retries.map(\.attempts) == [1, 0, 0])
        #expect(try await world.stored().record.cursor == 5)
        try world.destination.follow { _ in }
        try await world.turn(after: .seconds(7))
        let all = try await world.feedIDs()
        #expect(try world.destination.taken.map(\.eventID) == [all[2], all[3], all[0], all[1], all[4]])
        #expect(try await world.stored().retries.isEmpty)
    }

    @Test(arguments: 1...8)
    func `every account's events arrive in order, at random refusals`(seed: UInt64) async throws {
        let generator = Mutex(SeededGenerator(seed: seed))
        try world.destination.follow { _ in
            if generator.withLock({ Int.random(in: 0..<10, using: &$0) < 4 }) { throw Self.refusal }
        }
        for round in 0..<12 {
            for user in 1...6 { try await world.signIn(user, name: "Ada \(round)") }
            try await world.turn(after: .seconds(3))
        }
        var turns = 0
        while try await !world.stored().retries.isEmpty, turns < 200 {
            try await world.turn(after: .seconds(4000))
            turns += 1
        }
        let taken = try world.destination.taken.map(\.eventID)
        let events = try await world.store.allEvents()
        #expect(Set(taken) == Set(events.map(\.id.rawValue)))
        for (_, own) in Dictionary(grouping: events, by: \.accountID) {
            let ids = own.map(\.id.rawValue)
            #expect(taken.filter { ids.contains($0) } == ids)
        }
    }

    @Test func `what one receiver does not take fills its own table and stops its own feed`() async throws {
        let world = try await DeliveryWorld(["backend", "mail"])
        try world.destination.follow { _ in throw Self.refusal }
        for user in 1...200 { try await world.signIn(user) }
        for _ in 0..<20 { try await world.turn() }
        #expect(try await world.stored().retries.count == DeliveryRetry.mostPerReceiver)
        #expect(try await world.stored().record.cursor < 400)
        #expect(world.destinations["mail"]?.taken.count == 400)
        // With a full table nothing is attempted until a retry is due.
        let attempts = try world.destination.attempts.count
        try await world.turn()
        #expect(try world.destination.attempts.count == attempts)
        try world.destination.follow { _ in }
        for _ in 0..<20 { try await world.turn(after: .seconds(7)) }
        #expect(Set(try world.destination.taken.map(\.eventID)) == Set(try await world.feedIDs()))
        #expect(try await world.stored().retries.isEmpty)
    }

    @Test func `the first retry that is taken makes all others due`() async throws {
        try world.destination.follow { _ in throw Self.refusal }
        try await world.signIn(1)
        try await world.turn()
        // An hour later the first event is retried once an hour, and a younger one more often.
        for _ in 0..<12 { try await world.turn(after: .seconds(4600)) }
        try await world.signIn(2)
        try await world.turn()
        try world.destination.follow { _ in }
        try await world.turn(after: .seconds(7))
        #expect(try await world.stored().retries.isEmpty)
        #expect(Set(try world.destination.taken.map(\.eventID)) == Set(try await world.feedIDs()))
    }

    @Test func `an event that is always refused is not sent more often when others are taken`() async throws {
        try await world.signIn(1)
        let poison = try #require(try await world.feedIDs().first)
        try world.destination.follow { if $0.eventID == poison { throw Self.refusal } }
        try await world.turn()
        for user in 2...30 {
            try await world.signIn(user)
            try await world.turn()
        }
        // 29 turns take 5.8 seconds. The pause after the first attempt is 5 to 6.25.
        #expect(try world.destination.attempts.count { $0.eventID == poison } <= 2)
    }

    @Test func `attempts slow down to one an hour, and after seven days the receiver is paused`() async throws
    {
        try world.destination.follow { _ in throw Self.refusal }
        try await world.signIn(1)
        try await world.turn()
        var hours = 0
        while try await world.stored().record.pausedAt == nil, hours < 400 {
            try await world.turn(after: .seconds(1800))
            hours += 1
        }
        let paused = try #require(try await world.stored().record.pausedAt)
        let days = Double(paused.milliseconds - DeliveryWorld.start) / 86_400_000
        #expect((7.0...7.1).contains(days))
        // At most one in half an hour, by the steps of this test, and at least one in one and a half.
        let attempts = try world.destination.attempts.count
        #expect((112...340).contains(attempts))
        // A paused receiver gets nothing, and costs nothing.
        try await world.signIn(2)
        try await world.turn(after: .seconds(90_000))
        #expect(try world.destination.attempts.count == attempts)
        let last = try await world.store.lastEventSequence()
        #expect(try await world.stored().waiting(lastSequence: last) == 4)
        #expect(try await world.worker.nextDue() == nil)
        // Resumed, it gets everything that it missed, in order.
        try world.destination.follow { _ in }
        #expect(try await world.store.resumeReceiver("backend", at: world.now))
        try await world.turn()
        #expect(Set(try world.destination.taken.map(\.eventID)) == Set(try await world.feedIDs()))
        #expect(try await world.stored().record.pausedAt == nil)
    }

    @Test func `an event that waited behind another one has its own seven days`() async throws {
        try world.destination.follow { _ in throw Self.refusal }
        try await world.signIn(1)
        try await world.turn()
        let ids = try await world.feedIDs()
        try world.destination.follow { if $0.eventID == ids[1] { throw Self.refusal } }
        try await world.turn(after: .seconds(6 * 86_400))
        #expect(try await world.stored().retries.map(\.sequence) == [2])
        try await world.turn(after: .seconds(2 * 86_400))
        #expect(try await world.stored().record.pausedAt == nil)
        try await world.turn(after: .seconds(6 * 86_400))
        #expect(try await world.stored().record.pausedAt == world.now)
    }

    @Test func `a worker without work does not ask the database until something is due`() async throws {
        // Nothing at all.
        try await world.turn()
        #expect(try await world.worker.nextDue() == nil)
        // A signal right after a claim that found nothing is kept for a moment.
        try await world.signIn(1)
        #expect(try await world.worker.claim(limit: 8, at: world.now).isEmpty)
        let pause = world.now.advanced(byMilliseconds: EventDelivering.emptyPause)
        #expect(try await world.worker.nextDue() == pause)
        // What waits behind a refused event is not due before it.
        try world.destination.follow { if $0.text.contains("account_created") { throw Self.refusal } }
        try await world.turn()
        try await world.signIn(2)
        try world.destination.follow { [key = DeliveryWorld.key(1).subject.rawValue] in
            if $0.text.contains(key) { throw Self.refusal }
        }
        try await world.turn()
        let due = try await world.stored().retries.map(\.dueAt)
        #expect(Set(due).count == 1)
        #expect(try await world.worker.nextDue() == due.first)
    }

    @Test func `an event of a user who was erased meanwhile names nobody`() async throws {
        try world.destination.follow { _ in throw Self.refusal }
        try await world.signIn(1)
        try await world.turn()
        let before = try #require(try world.destination.attempts.first)
        #expect(before.text.contains(DeliveryWorld.key(1).subject.rawValue))
        let account = try #require(try await world.store.account(DeliveryWorld.key(1)))
        try await world.store.erase(.sample(account: account, at: world.now))
        try world.destination.follow { _ in }
        try await world.turn(after: .seconds(7))
        let taken = try world.destination.taken
        #expect(taken.map(\.eventID) == (try await world.feedIDs()))
        #expect(taken.allSatisfy { !$0.text.contains(DeliveryWorld.key(1).subject.rawValue) })
    }

    @Test func `the claim of a process that is gone ends by itself, and its events arrive`() async throws {
        try await world.signIn(1)
        let lease = world.now.advanced(byMilliseconds: EventDelivering.lease)
        let crashed = try await world.store.claimReceivers(["backend"], at: world.now, leaseUntil: lease)
        #expect(crashed.count == 1)
        try await world.turn()
        #expect(try world.destination.taken.isEmpty)
        try await world.turn(after: .milliseconds(EventDelivering.lease))
        #expect(try world.destination.taken.count == 2)
        // The process comes back: its claim is not the last one.
        let late = ReceiverProgress(cursor: 0, notBefore: world.now)
        #expect(try await !world.store.settle(crashed[0].record, late))
    }

    /// Claims what another replica has, and looks twice a second. Returns the milliseconds until this worker has taken
    /// an event, or `nil` after 20 seconds.
    private func takeover(
        _ world: DeliveryWorld, whileHolding keep: (ReceiverRecord) async throws -> Void
    ) async throws -> Int64? {
        try await world.signIn(1)
        let lease = world.now.advanced(byMilliseconds: EventDelivering.lease)
        let held = try await world.store.claimReceivers(["backend"], at: world.now, leaseUntil: lease)
        let record = try #require(held.first).record
        let began = world.now.milliseconds
        while world.now.milliseconds - began < 20_000 {
            try await world.turn(after: .milliseconds(ClaimWatch.interval))
            guard try world.destination.taken.isEmpty else { return world.now.milliseconds - began }
            _ = try await world.worker.nextDue()
            try await keep(record)
        }
        return nil
    }

    @Test func `a replica that gives no sign of life loses its claim within five seconds`() async throws {
        let time = try #require(try await takeover(world) { _ in })
        #expect((3000...4500).contains(time))
    }

    @Test func `a replica that is slow keeps its claim`() async throws {
        let time = try await takeover(world) { record in
            _ = try await world.store.renewClaims(
                [record], leaseUntil: world.now.advanced(byMilliseconds: EventDelivering.lease))
        }
        #expect(time == nil)
    }

    /// Another replica finds all claims silent, and takes them over, while this one is held up.
    private static func takeOver(_ store: ReferenceStore, _ clock: ManualClock) async throws {
        let now = Moment(milliseconds: clock.millisecondsSince1970).advanced(byMilliseconds: 4000)
        for receiver in try await store.receivers() { _ = try await store.endClaim(receiver.record, at: now) }
        _ = try await store.claimReceivers(
            ["backend"], at: now, leaseUntil: now.advanced(byMilliseconds: EventDelivering.lease))
        clock.advance(by: .seconds(4))
    }

    @Test func `a replica that was held up makes no further attempt`() async throws {
        try await world.signIn(1)
        try world.destination.follow { [store = world.store, clock = world.clock] _ in
            try await Self.takeOver(store, clock)
        }
        try await world.turn()
        #expect(try world.destination.attempts.count == 1)
        #expect(try await world.stored().record.claims == 2)
        // The rest is not lost, and what was sent comes again.
        try world.destination.follow { _ in }
        try await world.turn(after: .milliseconds(EventDelivering.lease))
        let ids = try await world.feedIDs()
        #expect(try world.destination.taken.map(\.eventID) == [ids[0]] + ids)
    }

    @Test func `a replica that was held up while it made a request does not send it`() async throws {
        let world = try await DeliveryWorld(makingMessage: Self.takeOver)
        try await world.signIn(1)
        try await world.turn()
        #expect(try world.destination.attempts.isEmpty)
        #expect(try await world.stored().retries.isEmpty)
        #expect(try await world.stored().record.cursor == 0)
    }

    @Test func `a replay during a turn is not undone by the end of the turn`() async throws {
        try await world.signIn(1)
        try world.destination.follow { [store = world.store, now = world.now] _ in
            _ = try await store.moveReceiver("backend", to: 0, at: now)
        }
        try await world.turn()
        #expect(try await world.stored().record.cursor == 0)
        try world.destination.follow { _ in }
        try await world.turn()
        let ids = try await world.feedIDs()
        #expect(try world.destination.taken.map(\.eventID) == ids + ids)
    }

    @Test func `no attempt begins after ten seconds of a turn, and the rest is not lost`() async throws {
        for user in 1...20 { try await world.signIn(user) }
        let all = Set(try await world.feedIDs())
        // Each attempt takes a second, and its claim is written again meanwhile.
        try world.destination.follow { [worker = world.worker, clock = world.clock] _ in
            clock.advance(by: .seconds(1))
            worker.confirm("backend", at: Moment(milliseconds: clock.millisecondsSince1970))
        }
        var turns = 0
        while Set(try world.destination.taken.map(\.eventID)) != all, turns < 40 {
            let before = try world.destination.attempts.count
            try await world.turn()
            turns += 1
            let made = try world.destination.attempts.count - before
            // The other lanes may have begun theirs before the tenth attempt was over.
            #expect(made < 10 + EventDelivering.mostLanes)
            if turns == 1 { #expect(made >= 10) }
        }
        #expect(all.count == 40)
        #expect(Set(try world.destination.taken.map(\.eventID)) == all)
        #expect(try await world.stored().retries.isEmpty)
    }

    @Test(.timeLimit(.hung))
    func `receivers that hang delay no other, and the feed wakes the worker`() async throws {
        let store = ReferenceStore()
        let feed = EventFeed()
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        // All but one of the largest number of receivers.
        let hanging = (1..<EventReceiver.most).compactMap { ReceiverName("hanging-\($0)") }
        let good = ScriptedDestination()
        let dead = ScriptedDestination { _ in try await Task.sleep(for: .seconds(3600)) }
        let all: [(ReceiverName, ScriptedDestination)] = hanging.map { ($0, dead) } + [("zz-good", good)]
        let receivers = all.map { name, destination in
            EventReceiver(
                name: name, kinds: Set(AccountEvent.Kind.allCases), scope: .all,
                format: WebhookFormat(secrets: [secret]), destination: destination)
        }
        let now = { @Sendable in Moment(milliseconds: SystemKeySetClock().millisecondsSince1970) }
        try await store.addReceivers(receivers.map(\.name), at: now())
        let loop = ClaimLoop(
            EventDelivering(
                receivers: receivers, store: store, feed: feed, linger: .zero, now: now, logger: .silent))
        let running = Task { try await loop.run() }
        try await store.signIn(.sample())
        feed.advance(to: 2)
        try await eventually { dead.attempts.count >= hanging.count && good.taken.count == 2 }
        try await store.signIn(.sample(key: DeliveryWorld.key(2)))
        feed.advance(to: 4)
        // The others hang for an hour.
        try await eventually { good.taken.count == 4 }
        running.cancel()
        try await running.value
    }
}
