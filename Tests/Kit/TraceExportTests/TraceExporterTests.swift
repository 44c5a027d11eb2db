import Logging
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing
import Tracing

@testable import TraceExport

/// The exporter against a collector that is played.
@Suite struct TraceExporterTests {
    /// Takes documents, or fails or hangs as it is told.
    final class PlayedCollector: TraceCollector {
        enum Behaviour: Sendable { case take, refuse, hang }

        let behaviour: Behaviour
        let documents = Mutex<[[UInt8]]>([])

        init(_ behaviour: Behaviour) { self.behaviour = behaviour }

        func post(_ document: [UInt8], within limit: Duration) async throws {
            documents.withLock { $0.append(document) }
            switch behaviour {
            case .take: return
            case .refuse: throw TraceExportError(.refused, status: 500)
            case .hang:
                try? await Task.sleep(for: limit)
                throw TraceExportError(.timedOut)
            }
        }

        var count: Int { documents.withLock { $0.count } }
    }

    private let recorder = SpanRecorder(sampler: TraceSampler(ratio: 1))
    private let metrics = RecordingMetrics()

    private func run(_ collector: PlayedCollector, _ body: () async throws -> Void) async throws {
        let exporter = TraceExporter(
            queue: recorder.queue, collector: collector,
            document: TraceDocument(service: "test", version: "1", instance: "1"), logger: .silent,
            factory: metrics)
        let group = ServiceGroup(services: [exporter], logger: .silent)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await body()
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    private func record(_ count: Int) {
        for _ in 0..<count { recorder.startSpan("x", context: .topLevel).end() }
    }

    private func counted(_ result: String) -> Int64 {
        metrics.values(of: "siwa_trace_spans \(result)").reduce(0, +)
    }

    @Test func `spans leave in batches, without being asked for`() async throws {
        let collector = PlayedCollector(.take)
        try await run(collector) {
            record(1000)
            try await eventually { counted("exported") == 1000 }
        }
        #expect(collector.count >= 2)
        #expect(counted("failed") == 0 && counted("dropped") == 0)
    }

    @Test func `spans that wait at the end are posted`() async throws {
        let collector = PlayedCollector(.take)
        try await run(collector) { record(3) }
        #expect(collector.count == 1)
        #expect(counted("exported") == 3)
    }

    @Test func `nothing is posted without spans`() async throws {
        let collector = PlayedCollector(.take)
        try await run(collector) {}
        #expect(collector.count == 0)
    }

    @Test func `a collector that refuses costs its spans and no more, and is asked rarely`() async throws {
        let collector = PlayedCollector(.refuse)
        try await run(collector) {
            record(SpanQueue.bound + 100)
            try await eventually { counted("failed") >= 512 }
            #expect(counted("dropped") == 100)
            // A slow machine may get to the second attempt, after a second.
            #expect(collector.count < 3)
        }
        #expect(counted("exported") == 0)
        // One more attempt at the end.
        #expect(counted("failed") >= 1024)
    }

    @Test func `a collector that hangs delays the end for two seconds at most`() async throws {
        let collector = PlayedCollector(.hang)
        record(1)
        let clock = ContinuousClock()
        let start = clock.now
        try await run(collector) {}
        // With room for a slow machine; the limit of a request is 5 seconds.
        #expect(clock.now - start < .seconds(4.5))
        #expect(counted("failed") == 1)
    }
}
