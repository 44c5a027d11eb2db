import AppleAccounts
import CoreMetrics
import StorageConformance
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
