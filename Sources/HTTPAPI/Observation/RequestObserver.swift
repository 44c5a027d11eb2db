import Logging
import NIOCore
import NIOHTTP1

/// Watches requests: one log line and a few counts for each.
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
    }

    func connectionOpened() { metrics.connections.increment(by: 1) }
    func connectionClosed() { metrics.connections.decrement(by: 1) }

    func record(_ exchange: Exchange, _ answer: Answer, finishedAt end: NIODeadline) {
        let duration = end - exchange.startedAt
        metrics.record(exchange.route, answer.status, nanoseconds: duration.nanoseconds)
        // A line for each would cost more than it says.
        guard !exchange.isTurnedAway else { return turnedAway.count() }
        guard logsRequests else { return }
        let isFailure = answer.status.code >= 500
        var line = LogLine(at: now(), level: isFailure ? "warning" : "info")
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
