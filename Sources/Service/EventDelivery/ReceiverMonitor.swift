public import AppleAccounts
public import Metrics
public import ServiceLifecycle
import SignIn

/// Updates the metrics for paused receivers and for each receiver's waiting events. Runs every 15 seconds.
public struct ReceiverMonitor: Service {
    public typealias Store = AccountStore & DeliveryStore

    private struct Meters {
        let waiting: Meter
        let paused: Meter
    }

    static let interval = Duration.seconds(15)

    private let store: any Store
    private let clock: any Clock<Duration>
    private let meters: [ReceiverName: Meters]

    public init(
        receivers: [EventReceiver], polled: [PolledReceiver] = [], store: any Store,
        clock: any Clock<Duration> = ContinuousClock(),
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        (self.store, self.clock) = (store, clock)
        let (waiting, paused) = ("siwa_event_receiver_waiting", "siwa_event_receiver_paused")
        let describing = factory as? any DescribedMetricsFactory
        describing?.describeMeter(
            waiting, help: "Events after a receiver's position and events that it did not take, at most.")
        describing?.describeMeter(
            paused, help: "1 while a receiver is paused, after it did not take an event for seven days.")
        meters = Dictionary(
            (receivers.map(\.name) + polled.map(\.name)).map { name in
                let labels = [("receiver", name.rawValue)]
                return (
                    name,
                    Meters(
                        waiting: Meter(label: waiting, dimensions: labels, factory: factory),
                        paused: Meter(label: paused, dimensions: labels, factory: factory))
                )
            }, uniquingKeysWith: { first, _ in first })
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await look()
                try? await clock.sleep(for: Self.interval)
            }
        }
    }

    /// Updates the metrics, but leaves them unchanged while the database is not responding.
    func look() async {
        guard let last = try? await store.lastEventSequence(), let stored = try? await store.receivers()
        else { return }
        for receiver in stored {
            guard let meters = meters[receiver.record.name] else { continue }
            meters.waiting.set(receiver.waiting(lastSequence: last))
            meters.paused.set(receiver.record.pausedAt == nil ? 0 : 1)
        }
    }
}
