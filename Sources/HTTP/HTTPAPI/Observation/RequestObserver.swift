import HTTPEngine
import Logging
import NIOCore
import NIOHTTP1
import Synchronization
import TraceExport

/// Records requests. Each request increments a few counters, and each request from an authenticated caller or
/// OAuth client gets a log line. Unauthenticated requests are unbounded in number, and in an outage all
/// requests get 503, so the log contains only samples and totals of these two kinds.
///
/// A log line contains the route's path template instead of the path, because a path can identify a user. The
/// log never contains header values, bodies, tokens, addresses or keys.
final class RequestObserver: Sendable {
    private let metrics: RequestMetrics
    private let refusals: RefusalMetrics
    private let callers: CallerMetrics
    private let sink: LogSink
    private let logger: Logger
    private let logsRequests: Bool
    private let successes: SuccessSampler
    private let recent: RecentRequests?
    private let now: @Sendable () -> Int64
    private let rejected: OverloadNotice
    private let late: ThrottledNotice
    private let anonymous = Mutex(RequestSampler())
    private let unavailable = Mutex(RequestSampler())

    /// Creates an observer, which logs requests only if the level of `logger` is `info` or below. `now`
    /// returns the current time in milliseconds since 1970.
    ///
    /// - Parameters:
    ///   - callers: The names of the API keys.
    ///   - clients: The labels of OAuth clients; `nil` if there are no clients.
    ///   - rate: On average, one in every `rate` successful requests gets a log line.
    ///   - recent: The requests that the console shows; `nil` if there is no console.
    init(
        registry: MetricsRegistry, callers: [String] = [], clients: ClientLabels? = nil, sink: LogSink,
        logger: Logger, rate: Int = 1,
        recent: RecentRequests? = nil, now: @escaping @Sendable () -> Int64
    ) {
        successes = SuccessSampler(oneOf: rate)
        self.recent = recent
        metrics = RequestMetrics(registry)
        refusals = RefusalMetrics(registry)
        self.callers = CallerMetrics(registry, callers: callers, clients: clients)
        self.sink = sink
        self.logger = logger
        logsRequests = logger.logLevel <= .info
        self.now = now
        // If the database hangs, every call exceeds its time limit, so the notice is throttled.
        late = ThrottledNotice("calls finished after their time", every: 10_000, logger: logger, now: now)
        rejected = OverloadNotice(registry: registry, logger: logger, now: now)
        sink.beforeFlush { [weak self] in self?.reportSums() }
    }

    func connectionOpened() { metrics.connections.increment(by: 1) }
    func connectionClosed() { metrics.connections.decrement(by: 1) }

    func record(_ info: RequestInfo, _ response: HTTPResponse, finishedAt end: NIODeadline) {
        let duration = end - info.startedAt
        metrics.record(info.endpoint, response.status, nanoseconds: duration.nanoseconds)
        if let code = response.code { refusals.count(code) }
        if info.endpoint != nil {
            callers.count(
                caller: info.caller ?? info.client?.caller, client: info.client?.name,
                isRefused: response.code != nil)
        }
        // Rejections get no log line, because writing it would cost more than the rejection itself.
        guard !info.isRejected else { return rejected.count() }
        info.trace?.span?.finish(info, response)
        guard logsRequests || recent != nil else { return }
        let now = now()
        if let recent { Self.keep(info, response, duration, at: now, in: recent) }
        guard logsRequests, let sampled = weight(info, response, at: now) else { return }
        var line = sink.line(at: now, level: Self.level(of: response.status.code))
        line.field("msg", "request")
        // A client can send any method, so the log line contains it escaped and truncated.
        line.field("method", Self.method(of: info))
        line.field("route", info.endpoint?.path ?? "none")
        line.field("status", Int64(response.status.code))
        line.field("duration_us", duration.nanoseconds / 1000)
        line.field("request_id", info.requestID)
        if let caller = info.caller ?? info.client?.caller ?? Self.signer(of: info, response) {
            line.field("caller", caller)
        } else if info.client?.name == nil {
            line.field("caller", "none")
        }
        if let client = info.client?.name { line.field("oauth_client", client) }
        if let code = response.code { line.field("code", code) }
        if let refusal = info.client?.refusal {
            if let type = refusal.grantType { line.field("grant_type", type) }
            line.field("reason", refusal.reason)
        }
        if let trace = info.trace { line.field("trace_id", trace.place.traceID.text) }
        if sampled > 1 { line.field("sampled", Int64(sampled)) }
        sink.append(line)
    }

    /// Returns Apple's name if Apple signed the request, which is then an accepted notification.
    private static func signer(of info: RequestInfo, _ response: HTTPResponse) -> String? {
        info.endpoint === Endpoint.receiveAppleNotification && response.status == .ok ? "apple" : nil
    }

    /// Returns the method, truncated to 32 bytes. The longest registered method has 16 bytes.
    private static func method(of info: RequestInfo) -> String {
        let method = info.method?.rawValue ?? "none"
        return method.utf8.count <= 32 ? method : String(decoding: method.utf8.prefix(32), as: UTF8.self)
    }

    private static func keep(
        _ info: RequestInfo, _ response: HTTPResponse, _ duration: TimeAmount, at now: Int64,
        in recent: RecentRequests
    ) {
        let caller = info.caller ?? info.client?.caller ?? signer(of: info, response)
        recent.append { number in
            RecentRequest(
                number: number, time: now, method: method(of: info),
                route: info.endpoint?.path.description ?? "none", status: Int(response.status.code),
                code: response.code, caller: caller, client: info.client?.name,
                isProven: caller != nil || info.client?.isProven ?? false,
                microseconds: duration.nanoseconds / 1000, begin: info.startedAt.uptimeNanoseconds,
                requestID: info.requestID,
                traceID: info.trace?.place.traceID.text, reason: info.client?.refusal?.reason,
                grantType: info.client?.refusal?.grantType, refusal: info.notes?.refusal,
                exchange: info.notes?.exchange(response))
        }
    }

    /// Logs the last second's totals when the service stops.
    func finish() {
        let now = now()
        write(anonymous.withLock { $0.finish() }, Self.anonymousSum, at: now)
        write(unavailable.withLock { $0.finish() }, Self.unavailableSum, at: now)
    }

    /// Returns the number of requests that the log line represents; `nil` if the request gets no log line.
    private func weight(_ info: RequestInfo, _ response: HTTPResponse, at now: Int64) -> Int? {
        guard info.caller == nil, !(info.client?.isProven ?? false) else {
            let isSuccess =
                response.status.code < 400 && response.code == nil && info.client?.refusal == nil
            if isSuccess { return successes.isLogged() ? successes.rate : nil }
            guard response.status == .serviceUnavailable else { return 1 }
            return sample(info, response, unavailable, Self.unavailableSum, at: now)
        }
        // Only Apple can sign a notification, so the number of these log lines is bounded.
        if Self.signer(of: info, response) != nil { return 1 }
        return sample(info, response, anonymous, Self.anonymousSum, at: now)
    }

    private static let anonymousSum = "requests without a caller"
    private static let unavailableSum = "requests answered with 503"

    private func sample(
        _ info: RequestInfo, _ response: HTTPResponse, _ sampler: borrowing Mutex<RequestSampler>,
        _ sum: String, at now: Int64
    ) -> Int? {
        let name = response.code ?? info.endpoint?.path.description ?? "none"
        let kind = RequestSampler.Kind(
            status: response.status.code, name: name, reason: info.client?.refusal?.reason)
        let (summaries, isLogged) = sampler.withLock { sampler in
            (sampler.advance(to: now), sampler.count(kind))
        }
        write(summaries, sum, at: now)
        return isLogged ? 1 : nil
    }

    private func reportSums() {
        let now = now()
        write(anonymous.withLock { $0.advance(to: now) }, Self.anonymousSum, at: now)
        write(unavailable.withLock { $0.advance(to: now) }, Self.unavailableSum, at: now)
    }

    /// - Parameter now: The current time, for the lines. With the start time of the summarized second, the
    ///   lines would not be in chronological order.
    private func write(_ summaries: [RequestSampler.Summary], _ message: String, at now: Int64) {
        for summary in summaries {
            var line = sink.line(at: now, level: Self.level(of: summary.kind.status))
            line.field("msg", message)
            line.field("status", Int64(summary.kind.status))
            let isRoute = summary.kind.name.utf8.first == UInt8(ascii: "/")
            line.field(isRoute ? "route" : "code", summary.kind.name)
            if let reason = summary.kind.reason { line.field("reason", reason) }
            line.field("count", Int64(summary.count))
            sink.append(line)
        }
    }

    private static func level(of status: UInt) -> StaticString { status >= 500 ? "warning" : "info" }

    /// Counts calls that finished after the time limit, when the caller had already received an error.
    func recordLate() { late.count() }

    /// Logs an error that has no mapping, which is a bug in this service. Logs only the error's type, because
    /// the error text could contain secrets.
    func recordUnexpected(_ error: any Error, _ info: RequestInfo) {
        logger.error(
            "unexpected error",
            metadata: [
                "error_type": "\(type(of: error))", "request_id": "\(info.requestID)",
                "route": "\(info.endpoint?.path.description ?? "none")",
            ])
    }
}
