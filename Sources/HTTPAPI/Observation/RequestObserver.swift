import HTTPEngine
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// Records requests: a few counters for each, and one log line for each request of an authenticated caller or
/// OAuth client. Of other requests, whose number has no bound, it logs samples and sums.
///
/// The line has the route's template and never the path, because a path can identify a user. Header values,
/// bodies, tokens, addresses and keys are never logged.
final class RequestObserver: Sendable {
    private let metrics: RequestMetrics
    private let sink: LogSink
    private let logger: Logger
    private let logsRequests: Bool
    private let now: @Sendable () -> Int64
    private let rejected: OverloadNotice
    private let late: ThrottledNotice
    private let anonymous = Mutex(AnonymousRequestSampler())

    /// One line per request is written when the level of `logger` is `info` or below. `now` returns
    /// milliseconds since 1970.
    init(
        registry: MetricsRegistry, sink: LogSink, logger: Logger, now: @escaping @Sendable () -> Int64
    ) {
        metrics = RequestMetrics(registry)
        self.sink = sink
        self.logger = logger
        logsRequests = logger.logLevel <= .info
        self.now = now
        // A database that hangs makes every call late.
        late = ThrottledNotice("calls finished after their time", every: 10_000, logger: logger, now: now)
        rejected = OverloadNotice(registry: registry, logger: logger, now: now)
        sink.beforeFlush { [weak self] in self?.reportAnonymous() }
    }

    func connectionOpened() { metrics.connections.increment(by: 1) }
    func connectionClosed() { metrics.connections.decrement(by: 1) }

    func record(_ info: RequestInfo, _ response: HTTPResponse, finishedAt end: NIODeadline) {
        let duration = end - info.startedAt
        metrics.record(info.endpoint, response.status, nanoseconds: duration.nanoseconds)
        // A log line for each rejection would cost more than it is worth.
        guard !info.isRejected else { return rejected.count() }
        guard logsRequests else { return }
        let now = now()
        guard isLogged(info, response, at: now) else { return }
        var line = LogLine(at: now, level: Self.level(of: response.status.code))
        line.field("msg", "request")
        // A client can send any method, so it is escaped like other text.
        line.field("method", info.method?.rawValue ?? "none")
        line.field("route", info.endpoint?.path ?? "none")
        line.field("status", Int64(response.status.code))
        line.field("duration_us", duration.nanoseconds / 1000)
        line.field("request_id", info.requestID)
        if let caller = info.caller ?? info.client?.caller { line.field("caller", caller) }
        if let client = info.client?.name { line.field("oauth_client", client) }
        if let code = response.code { line.field("code", code) }
        if let refusal = info.client?.refusal {
            if let type = refusal.grantType { line.field("grant_type", type) }
            line.field("reason", refusal.reason)
        }
        sink.append(line)
    }

    /// Logs the sums of requests without a caller, at the end of the service.
    func finish() {
        write(anonymous.withLock { $0.finish() })
    }

    private func isLogged(_ info: RequestInfo, _ response: HTTPResponse, at now: Int64) -> Bool {
        guard info.caller == nil, !(info.client?.isProven ?? false) else { return true }
        // Apple signed the notification, so the number of such lines is bounded.
        if info.endpoint === Endpoint.receiveAppleNotification, response.status == .ok { return true }
        let name = response.code ?? info.endpoint?.path.description ?? "none"
        let kind = AnonymousRequestSampler.Kind(
            status: response.status.code, name: name, reason: info.client?.refusal?.reason)
        let (summaries, isLogged) = anonymous.withLock { sampler in
            (sampler.advance(to: now), sampler.count(kind))
        }
        write(summaries)
        return isLogged
    }

    private func reportAnonymous() {
        let now = now()
        write(anonymous.withLock { $0.advance(to: now) })
    }

    private func write(_ summaries: [AnonymousRequestSampler.Summary]) {
        for summary in summaries {
            var line = LogLine(at: summary.beganAt, level: Self.level(of: summary.kind.status))
            line.field("msg", "requests without a caller")
            line.field("status", Int64(summary.kind.status))
            let isRoute = summary.kind.name.utf8.first == UInt8(ascii: "/")
            line.field(isRoute ? "route" : "code", summary.kind.name)
            if let reason = summary.kind.reason { line.field("reason", reason) }
            line.field("count", Int64(summary.count))
            sink.append(line)
        }
    }

    private static func level(of status: UInt) -> StaticString { status >= 500 ? "warning" : "info" }

    /// Counts work that ended after its caller had received an error because of the time limit.
    func recordLate() { late.count() }

    /// Logs an error that no switch handles, which is a bug of this service. Only its type is logged; its
    /// text could contain anything.
    func recordUnexpected(_ error: any Error, _ info: RequestInfo) {
        logger.error(
            "unexpected error",
            metadata: [
                "error_type": "\(type(of: error))", "request_id": "\(info.requestID)",
                "route": "\(info.endpoint?.path.description ?? "none")",
            ])
    }
}
