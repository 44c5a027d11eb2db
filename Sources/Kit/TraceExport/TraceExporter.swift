public import Logging
public import Metrics
public import ServiceLifecycle
import Synchronization

/// Sends finished spans to the trace collector twice a second.
///
/// If the collector does not accept spans, the exporter drops and counts them, and waits before its next
/// attempt: one second at first, then twice as long after each failure, up to half a minute. Only process
/// shutdown waits for the exporter, for at most two seconds.
public final class TraceExporter: Service {
    static let largestBatch = 512
    static let interval = Duration.milliseconds(500)
    static let requestLimit = Duration.seconds(5)
    /// Time limit for sending the remaining spans when the process ends.
    static let lastLimit = Duration.seconds(2)
    static let longestPause = Duration.seconds(30)
    /// Shortest time between two log lines.
    private static let quietTime = Duration.seconds(60)

    private let queue: SpanQueue
    private let collector: any TraceCollector
    private let document: TraceDocument
    private let logger: Logger
    private let exported: Counter
    private let failed: Counter
    private let dropped: Counter

    public init(
        queue: SpanQueue, collector: any TraceCollector, document: TraceDocument, logger: Logger,
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        (self.queue, self.collector, self.document, self.logger) = (queue, collector, document, logger)
        func counter(_ result: String) -> Counter {
            Counter(label: "siwa_trace_spans", dimensions: [("result", result)], factory: factory)
        }
        (exported, failed, dropped) = (counter("exported"), counter("failed"), counter("dropped"))
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown { await self.exportRegularly() }
        // All other work has stopped, so no new span will follow. The current task is cancelled and can send
        // no request, so a new task exports the rest.
        await Task { await self.exportRest() }.value
    }

    private func exportRegularly() async {
        var pause = Self.interval
        var saidAt: ContinuousClock.Instant?
        while !Task.isCancelled {
            try? await Task.sleep(for: pause)
            guard !Task.isCancelled else { return }
            do {
                try await exportWaiting(until: .now + Self.requestLimit, each: Self.requestLimit)
                pause = Self.interval
            } catch {
                pause = min(max(.seconds(1), pause * 2), Self.longestPause)
                let now = ContinuousClock.now
                if saidAt.map({ now - $0 >= Self.quietTime }) ?? true, !Task.isCancelled {
                    saidAt = now
                    warn(error)
                }
            }
        }
    }

    private func exportRest() async {
        try? await exportWaiting(until: .now + Self.lastLimit, each: Self.lastLimit)
    }

    private func exportWaiting(until end: ContinuousClock.Instant, each limit: Duration) async throws {
        while true {
            let (spans, dropped) = queue.take(atMost: Self.largestBatch)
            if dropped > 0 { self.dropped.increment(by: dropped) }
            guard !spans.isEmpty else { return }
            let left = end - ContinuousClock.now
            guard left > .zero else {
                failed.increment(by: spans.count)
                return
            }
            do {
                try await collector.post(document.encode(spans), within: min(limit, left))
                exported.increment(by: spans.count)
            } catch {
                failed.increment(by: spans.count)
                throw error
            }
            // If the queue held more spans than one batch, the loop sends the next batch immediately.
            if spans.count < Self.largestBatch { return }
        }
    }

    private func warn(_ error: any Error) {
        let error = error as? TraceExportError
        var metadata: Logger.Metadata = ["error": "\(error?.code.rawValue ?? "unreachable")"]
        if let status = error?.status { metadata["status"] = "\(status)" }
        logger.warning("spans were not exported", metadata: metadata)
    }
}

/// A program that receives spans, such as the OpenTelemetry Collector.
public protocol TraceCollector: Sendable {
    /// Sends a document, and returns once the collector has accepted it.
    ///
    /// - Parameter limit: Time limit for the call.
    /// - Throws: `TraceExportError` if the collector does not accept the document.
    func post(_ document: [UInt8], within limit: Duration) async throws
}

/// Reason a trace collector did not accept spans.
public struct TraceExportError: Error, Equatable {
    public enum Code: String, Sendable, CaseIterable {
        case unreachable, timedOut = "timed_out", refused
    }

    public let code: Code
    /// HTTP status of the response; `nil` if no response arrived.
    public let status: Int?

    public init(_ code: Code, status: Int? = nil) {
        (self.code, self.status) = (code, status)
    }
}

/// Spans that wait for the trace collector. The queue drops and counts spans above its bound, so a slow or
/// unreachable collector uses only bounded memory and does not delay requests.
public final class SpanQueue: Sendable {
    public static let bound = 2048

    private struct State {
        var spans: [FinishedSpan] = []
        var dropped = 0
    }

    private let state = Mutex(State())

    public init() {}

    func append(_ span: FinishedSpan) {
        state.withLock { state in
            if state.spans.count < Self.bound { state.spans.append(span) } else { state.dropped += 1 }
        }
    }

    /// Removes and returns all spans.
    package func takeAll() -> [FinishedSpan] { take(atMost: Self.bound).spans }

    /// Removes and returns the oldest spans, and the number of spans that the queue has dropped since the
    /// last call.
    func take(atMost most: Int) -> (spans: [FinishedSpan], dropped: Int) {
        state.withLock { state in
            defer { state.dropped = 0 }
            guard state.spans.count > most else {
                defer { state.spans = [] }
                return (state.spans, state.dropped)
            }
            defer { state.spans.removeFirst(most) }
            return (Array(state.spans.prefix(most)), state.dropped)
        }
    }
}
