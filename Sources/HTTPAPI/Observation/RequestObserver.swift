import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// Watches requests: a few counts for each, and one log line for each of a known caller. Of the others, whose number
/// nothing bounds, it logs samples and sums.
///
/// The line has the route's template and never the path, because a path names a person. Header values, bodies,
/// tokens, addresses and keys are never logged.
final class RequestObserver: Sendable {
    private let metrics: RequestMetrics
    private let sink: LogSink
    private let logger: Logger
    private let logsRequests: Bool
    private let now: @Sendable () -> Int64
    private let turnedAway: TurnedAwayNotice
    private let anonymous = Mutex(AnonymousTally())

    /// One line per request is written when `logger` takes the level `info`. `now` gives milliseconds since 1970.
    init(
        registry: MetricsRegistry, sink: LogSink, logger: Logger, now: @escaping @Sendable () -> Int64
    ) {
        metrics = RequestMetrics(registry)
        self.sink = sink
        self.logger = logger
        logsRequests = logger.logLevel <= .info
        self.now = now
        turnedAway = TurnedAwayNotice(registry: registry, logger: logger, now: now)
        sink.beforeFlush { [weak self] in self?.reportAnonymous() }
    }

    func connectionOpened() { metrics.connections.increment(by: 1) }
    func connectionClosed() { metrics.connections.decrement(by: 1) }

    func record(_ exchange: Exchange, _ answer: Answer, finishedAt end: NIODeadline) {
        let duration = end - exchange.startedAt
        metrics.record(exchange.route, answer.status, nanoseconds: duration.nanoseconds)
        // A line for each would cost more than it says.
        guard !exchange.isTurnedAway else { return turnedAway.count() }
        guard logsRequests else { return }
        let now = now()
        guard isLogged(exchange, answer, at: now) else { return }
        var line = LogLine(at: now, level: Self.level(of: answer.status.code))
        line.field("msg", "request")
        // A method of the client's own invention is escaped like any other text.
        line.field("method", exchange.method?.rawValue ?? "none")
        line.field("route", exchange.route?.template ?? "none")
        line.field("status", Int64(answer.status.code))
        line.field("duration_us", duration.nanoseconds / 1000)
        line.field("request_id", exchange.requestID)
        if let caller = exchange.caller { line.field("caller", caller) }
        if let code = answer.code { line.field("code", code) }
        sink.append(line)
    }

    /// What has not been said about requests without a caller, at the end of the service.
    func finish() {
        write(anonymous.withLock { $0.finish() })
    }

    private func isLogged(_ exchange: Exchange, _ answer: Answer, at now: Int64) -> Bool {
        guard exchange.caller == nil else { return true }
        // Apple signed it.
        if exchange.route == .appleNotification, answer.status == .ok { return true }
        let name = answer.code ?? exchange.route?.template.description ?? "none"
        let kind = AnonymousTally.Kind(status: answer.status.code, name: name)
        let (summaries, isLogged) = anonymous.withLock { tally in
            (tally.advance(to: now), tally.count(kind))
        }
        write(summaries)
        return isLogged
    }

    private func reportAnonymous() {
        let now = now()
        write(anonymous.withLock { $0.advance(to: now) })
    }

    private func write(_ summaries: [AnonymousTally.Summary]) {
        for summary in summaries {
            var line = LogLine(at: summary.beganAt, level: Self.level(of: summary.kind.status))
            line.field("msg", "requests without a caller")
            line.field("status", Int64(summary.kind.status))
            let isRoute = summary.kind.name.utf8.first == UInt8(ascii: "/")
            line.field(isRoute ? "route" : "code", summary.kind.name)
            line.field("count", Int64(summary.count))
            sink.append(line)
        }
    }

    private static func level(of status: UInt) -> StaticString { status >= 500 ? "warning" : "info" }

    /// The work of a call whose caller was told long ago that it could not be done.
    func recordLate(_ exchange: Exchange, _ answer: Answer) {
        logger.warning(
            "call finished after its time",
            metadata: [
                "request_id": "\(exchange.requestID)", "status": "\(answer.status.code)",
                "route": "\(exchange.route?.template.description ?? "none")",
            ])
    }

    /// An error that no switch knows is a mistake in this service: its type is logged, its text could hold anything.
    func recordUnexpected(_ error: any Error, _ exchange: Exchange) {
        logger.error(
            "unexpected error",
            metadata: [
                "error_type": "\(type(of: error))", "request_id": "\(exchange.requestID)",
                "route": "\(exchange.route?.template.description ?? "none")",
            ])
    }
}
