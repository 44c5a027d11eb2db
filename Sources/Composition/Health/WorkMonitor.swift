import AppleAccounts
import Console
import Dispatch
import Metrics
import ServiceLifecycle
import SignIn

/// Updates metrics every 15 seconds: the amount of waiting work, the delay of its oldest item, the event
/// feed's last sequence number, and database readings.
struct WorkMonitor: Service {
    typealias Store = AccountStore & AppleTokenStore & AppReceiptStore & InboxStore

    /// The kinds of work that a worker claims once it is due.
    static let queues: [QueueCondition.Name] = [.exchange, .check, .erasure, .receipt]

    static let interval = Duration.seconds(15)
    private static let (waiting, oldest) = ("siwa_work_waiting", "siwa_work_oldest_seconds")
    private static let sequence = "siwa_event_sequence"

    let store: any Store
    let database: any ServiceDatabase
    let clock: any Clock<Duration>
    let now: @Sendable () -> Moment
    let factory: any MetricsFactory
    /// Called with the feed's last sequence number, because a new process does not know it.
    let onSequence: @Sendable (Int64) -> Void
    /// Called with the time of the last notification that any replica has stored.
    let onNotification: @Sendable (Moment) -> Void

    init(
        store: any Store, database: any ServiceDatabase, clock: any Clock<Duration> = ContinuousClock(),
        factory: any MetricsFactory = MetricsSystem.factory, now: @escaping @Sendable () -> Moment,
        onSequence: @escaping @Sendable (Int64) -> Void = { _ in },
        onNotification: @escaping @Sendable (Moment) -> Void = { _ in }
    ) {
        self.onNotification = onNotification
        (self.store, self.database, self.clock) = (store, database, clock)
        self.onSequence = onSequence
        (self.factory, self.now) = (factory, now)
        describe(
            Self.waiting, "Work that is due and has not succeeded, by kind, counted up to 10,000.")
        describe(
            Self.oldest,
            "Seconds since the oldest of this work was due first, whatever attempts failed; 0 without any.")
        describe(Self.sequence, "Number of the last event of the feed.")
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await look()
                try? await clock.sleep(for: Self.interval)
            }
        }
        // Waits, because if `run` returned early, the whole service would stop.
        try? await gracefulShutdown()
    }

    /// Updates the metrics. While the database does not respond, sets the work metrics to NaN, because
    /// old numbers would look healthy.
    func look() async {
        for reading in await readings() {
            describe(reading.name, reading.help)
            set(reading.name, reading.labels, reading.value)
        }
        do {
            try await lookAtWork(at: now())
        } catch {
            for queue in Self.queues {
                let labels = [("queue", queue.rawValue)]
                if queue.isCounted { set(Self.waiting, labels, .nan) }
                set(Self.oldest, labels, .nan)
            }
        }
    }

    private func lookAtWork(at moment: Moment) async throws {
        let backlog = try await store.backlog(at: moment)
        let receipt = try await store.nextReceiptDue()
        for queue in Self.queues {
            let work = queue.work(backlog, nextReceipt: receipt, at: moment)
            let labels = [("queue", queue.rawValue)]
            if let count = work.count { set(Self.waiting, labels, count) }
            set(Self.oldest, labels, work.age)
        }
        let sequence = try await store.lastEventSequence()
        set(Self.sequence, [], sequence)
        onSequence(sequence)
        if let moment = try await store.lastNotification() { onNotification(moment) }
    }

    private func readings() async -> [DatabaseReading] {
        await withCheckedContinuation { continuation in
            // Uses another thread, because a hanging file system must not block the cooperative pool.
            DispatchQueue.global().async { continuation.resume(returning: database.readings) }
        }
    }

    private func describe(_ name: String, _ help: String) {
        (factory as? any DescribedMetricsFactory)?.describeMeter(name, help: help)
    }

    private func set(_ name: String, _ labels: [(String, String)], _ value: Int64) {
        set(name, labels, Double(value))
    }

    private func set(_ name: String, _ labels: [(String, String)], _ value: Double) {
        Meter(label: name, dimensions: labels, factory: factory).set(value)
    }
}

extension QueueCondition.Name {
    /// True for queues whose items the store counts. There are few receipts; other queues count their
    /// items.
    var isCounted: Bool {
        switch self {
        case .exchange, .check, .erasure: true
        case .receipt, .google, .deliveries: false
        }
    }

    /// Returns the number of due items, and the oldest due item's delay in seconds.
    ///
    /// - Returns: The count is `nil` if this work is not counted.
    func work(
        _ backlog: AppleTokensBacklog, nextReceipt: Moment?, at moment: Moment
    ) -> (count: Int64?, age: Int64) {
        let (count, since): (Int64?, Moment?) =
            switch self {
            case .exchange: (backlog.codes.count, backlog.codes.since)
            case .check: (backlog.checks.count, backlog.checks.since)
            case .erasure: (backlog.erasures.count, backlog.erasures.since)
            case .receipt: (nil, nextReceipt)
            case .google, .deliveries: (nil, nil)
            }
        return (count, since.map { max(moment.milliseconds - $0.milliseconds, 0) / 1000 } ?? 0)
    }
}
