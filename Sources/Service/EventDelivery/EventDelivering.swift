package import AppleAccounts
package import Commits
package import Logging
package import SignIn
import Synchronization

/// Delivers account events to receivers, at least once per event, and in order for each account.
///
/// A worker claims a receiver in the database, so that only one replica at a time delivers to it. A receiver
/// that hangs or refuses events takes up only its own place in the pool. After a crash, the events of the
/// last second or of the whole claim are delivered again with the same event IDs.
///
/// While a turn runs, its claim is renewed every second, by one statement for all of this process's claims.
/// Other replicas watch the claims, and end a claim that does not change (`ClaimWatch`).
package struct EventDelivering: Worker {
    package static let traits = WorkerTraits(
        // The pool makes new claims when a quarter of its places are free, so it has more places than there
        // are receivers, including Google. The feed sends a signal for each commit of each replica.
        width: (EventReceiver.most + 1) * 4 / 3, longestLook: .seconds(10), failurePause: .seconds(5),
        unclaimed: "no receivers of events could be claimed", counter: "siwa_event_deliveries",
        help: "Deliveries of events to receivers by result.")
    /// Duration of a claim in milliseconds. Another replica ends the claim earlier if this process does not
    /// renew it.
    static let lease: Int64 = 30_000
    /// Minimum age at which a claim is renewed, and interval between checks of the claims' ages, in
    /// milliseconds. Together they cause about one renewal per second. The turn itself also renews its claim.
    static let (renewal, renewalLook): (Int64, Int64) = (750, 500)
    /// Time in milliseconds during which a turn starts new attempts. It is shorter than a claim, so the last
    /// attempt ends before the claim does.
    static let turn: Int64 = 10_000
    /// Interval in milliseconds between writes of a receiver's position while events keep arriving.
    static let settleInterval: Int64 = 1000
    /// Pause in milliseconds after a claim without work. It prevents a replica from querying the database
    /// continuously while another replica has claimed the receivers.
    static let emptyPause: Int64 = 100
    /// Maximum number of events that are sent to a receiver concurrently.
    static let mostLanes = 8

    package enum WorkResult: String, CountedResult {
        case delivered
        /// The receiver did not accept the event, so it will be retried.
        case failed
        /// The receiver refused the event too often, so it will not be retried.
        case abandoned
    }

    /// A claim that this process holds.
    struct Held {
        let record: ReceiverRecord
        /// Time at which this process last confirmed that it holds the receiver's latest claim.
        var confirmedAt: Moment
    }

    struct Idleness {
        var held: [ReceiverName: Held] = [:]
        var watch = ClaimWatch()
        var takenAt: [ReceiverName: Moment] = [:]
        var lastFailures: [ReceiverName: DeliveryFailure] = [:]
        var lookAgainAt: Moment?
        /// True if the last claim skipped the database because of `lookAgainAt`.
        var hasSkipped = false
    }

    package let context: WorkerContext<WorkResult>
    let store: any Store
    let feed: EventFeed
    let receivers: [ReceiverName: EventReceiver]
    /// Time for which a turn at the end of the feed waits for new events before it ends its claim.
    let linger: Duration
    private let signals: [ReceiverName: WakeupSignal]
    private let idleness = Shared()

    package typealias Store = AccountStore & DeliveryStore

    package init(
        receivers: [EventReceiver], store: any Store, feed: EventFeed, linger: Duration = .seconds(1),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        context = WorkerContext(
            for: Self.self, signals: WorkerSignals(), clock: clock, now: now, logger: logger)
        (self.store, self.feed, self.linger) = (store, feed, linger)
        self.receivers = Dictionary(
            receivers.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        signals = self.receivers.mapValues { _ in WakeupSignal() }
        feed.whenAdvanced { [signals, pool = context.signal] in
            for signal in signals.values { signal.wake() }
            pool.wake()
        }
    }

    /// Wakes the worker, because a client has requested a verification.
    package func wake() { context.signal.wake() }

    package var claimPace: SharedPace? { nil }

    package func claim(limit: Int, at moment: Moment) async throws -> [ClaimedReceiver] {
        let isEarly = idleness.state.withLock { state in
            // The upper bound lets deliveries continue after the clock is set back.
            let pause = moment.advanced(byMilliseconds: Self.emptyPause)
            state.hasSkipped = state.lookAgainAt.map { moment < $0 && $0 <= pause } ?? false
            return state.hasSkipped
        }
        let idle = isEarly ? [] : Array(idleReceivers.prefix(limit))
        guard !idle.isEmpty else { return [] }
        let claimed = try await store.claimReceivers(
            idle, at: moment, leaseUntil: moment.advanced(byMilliseconds: Self.lease))
        idleness.state.withLock { state in
            for one in claimed {
                state.held[one.record.name] = Held(record: one.record, confirmedAt: moment)
            }
            state.lookAgainAt = claimed.isEmpty ? moment.advanced(byMilliseconds: Self.emptyPause) : nil
        }
        return claimed
    }

    package func nextDue() async throws -> Moment? {
        let pause = idleness.state.withLock { $0.hasSkipped ? $0.lookAgainAt : nil }
        if let pause { return pause }
        let idle = idleReceivers
        guard !idle.isEmpty else { return nil }
        let due = try await store.dueReceivers(idle)
        let next = try await endSilentClaims(due.map(\.record))
        return (due.map(\.at) + [next]).compactMap { $0 }.min()
    }

    /// Renews this process's claims about once a second, until the task is cancelled. Each turn runs this
    /// function, and each call renews all claims.
    private func keepClaims() async {
        while !Task.isCancelled {
            do {
                try await context.clock.sleep(for: .milliseconds(Self.renewalLook))
                try await renewClaims(at: now())
            } catch {
                // The error has no effect here, because a turn ends by itself if its claim is not renewed in
                // time.
            }
        }
    }

    /// Renews all of this process's claims whose last renewal is too old.
    private func renewClaims(at moment: Moment) async throws {
        let old = idleness.state.withLock { state in
            state.held.values.filter {
                !(0..<Self.renewal).contains(moment.milliseconds - $0.confirmedAt.milliseconds)
            }
        }
        guard !old.isEmpty else { return }
        let renewed = try await store.renewClaims(
            old.map(\.record), leaseUntil: moment.advanced(byMilliseconds: Self.lease))
        idleness.state.withLock { state in
            for claim in old {
                guard let held = state.held[claim.record.name], held.record.claims == claim.record.claims
                else { continue }
                // A turn with a lost claim ends before its next attempt. The turn itself may have renewed its
                // claim in the meantime.
                state.held[claim.record.name]?.confirmedAt =
                    renewed.contains(claim.record.name)
                    ? max(held.confirmedAt, moment) : moment.advanced(byMilliseconds: -ClaimWatch.silence)
            }
        }
    }

    /// Ends silent claims of other replicas (`ClaimWatch`). Returns the time of the next check; `nil` if no
    /// other replica holds a claim.
    private func endSilentClaims(_ records: [ReceiverRecord]) async throws -> Moment? {
        let moment = now()
        let (silent, next) = idleness.state.withLock { $0.watch.look(at: records, now: moment) }
        for record in silent {
            guard try await store.endClaim(record, at: moment) else { continue }
            context.log.tell(
                "a replica gives no sign of life: its claim was ended", about: nil, of: record.name.rawValue,
                level: .notice, at: moment, metadata: ["receiver": "\(record.name)"])
        }
        return silent.isEmpty ? next : moment
    }

    package func clientID(of claimed: ClaimedReceiver) -> String { claimed.record.name.rawValue }

    package func logMetadata(of claimed: ClaimedReceiver) -> Logger.Metadata {
        ["receiver": "\(claimed.record.name)"]
    }

    package func perform(_ claimed: ClaimedReceiver) async -> WorkOutcome<WorkResult> {
        let name = claimed.record.name
        if let receiver = receivers[name], let signal = signals[name] {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await keepClaims() }
                await run(claimed, of: receiver, wokenBy: signal)
                group.cancelAll()
            }
        }
        _ = idleness.state.withLock { $0.held.removeValue(forKey: name) }
        // Events may have arrived at the end of the turn, and failed events may be due for a retry.
        context.signal.wake()
        return .counted
    }

    /// Returns `false` if another replica may hold the claim now, because this process was suspended or the
    /// database is not responding.
    func isHeld(_ name: ReceiverName) -> Bool {
        let confirmed = idleness.state.withLock { $0.held[name]?.confirmedAt }
        return confirmed.map { now() < $0.advanced(byMilliseconds: ClaimWatch.silence) } ?? false
    }

    /// Records that this process holds the receiver's latest claim.
    func confirm(_ name: ReceiverName, at moment: Moment) {
        idleness.state.withLock { $0.held[name]?.confirmedAt = moment }
    }

    /// Returns the time at which a receiver last accepted an event from this process; `nil` if it has not.
    func takenAt(of name: ReceiverName) -> Moment? { idleness.state.withLock { $0.takenAt[name] } }

    /// Returns this process's last failed delivery attempt to a receiver; `nil` if none has failed since the
    /// start.
    package func lastFailure(of name: ReceiverName) -> DeliveryFailure? {
        idleness.state.withLock { $0.lastFailures[name] }
    }

    func note(_ error: any Error, of name: ReceiverName) {
        let failure = DeliveryFailure(moment: now(), text: "\(error)")
        idleness.state.withLock { $0.lastFailures[name] = failure }
    }

    func setTakenAt(_ moment: Moment?, of name: ReceiverName) {
        idleness.state.withLock { $0.takenAt[name] = moment }
    }

    /// Receivers without a running turn in this process.
    private var idleReceivers: [ReceiverName] {
        idleness.state.withLock { state in receivers.keys.filter { state.held[$0] == nil } }.sorted()
    }

    private final class Shared: Sendable {
        let state = Mutex(Idleness())
    }
}

/// Finds the claims of other replicas that have exited or been suspended.
///
/// The holder of a claim renews it every second. A claim is silent if this replica's checks find no change
/// for three seconds. Only the time between checks counts, so the replicas' clocks need not agree, and a
/// database outage, during which no replica can write or check, does not end claims. Does no I/O and reads no
/// clock.
struct ClaimWatch: Sendable {
    /// Time until an unchanged claim counts as silent, in milliseconds.
    static let silence: Int64 = 3000
    /// Interval between checks while another replica holds a claim, in milliseconds.
    static let interval: Int64 = 500
    /// Maximum time between two checks, in milliseconds. After a longer gap the measurement restarts, because
    /// this replica itself was suspended.
    static let longestGap: Int64 = 1500

    private struct Sighting {
        let record: ReceiverRecord
        let firstAt: Moment
        var lastAt: Moment
    }

    private var sightings: [ReceiverName: Sighting] = [:]

    /// Returns the silent claims on receivers that this replica has not claimed, and the time of the next
    /// check; `nil` if none of these receivers has a claim.
    ///
    /// - Parameter records: The currently stored records.
    mutating func look(
        at records: [ReceiverRecord], now: Moment
    ) -> (silent: [ReceiverRecord], next: Moment?) {
        let claimed = records.filter { $0.notBefore > now }
        let known = sightings
        sightings = [:]
        var silent: [ReceiverRecord] = []
        for record in claimed {
            var sighting = Sighting(record: record, firstAt: now, lastAt: now)
            if let before = known[record.name], before.record == record,
                (0...Self.longestGap).contains(now.milliseconds - before.lastAt.milliseconds)
            {
                sighting = before
                sighting.lastAt = now
            }
            if now.milliseconds - sighting.firstAt.milliseconds >= Self.silence {
                silent.append(record)
            } else {
                sightings[record.name] = sighting
            }
        }
        return (silent, claimed.isEmpty ? nil : now.advanced(byMilliseconds: Self.interval))
    }
}
