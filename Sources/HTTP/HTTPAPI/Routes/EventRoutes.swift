import AppleAccounts
import Commits
import EventDelivery
import HTTPEngine
import NIOHTTP1
import SignIn

/// The route of the account event feed.
final class EventRoutes: Sendable {
    static let defaultLimit: Int64 = 100

    let useCases: SignInUseCases
    private let waiting: GaugeCell
    private let readers: FeedReaders
    private let now: @Sendable () -> Int64

    /// - Parameter now: Returns the current time in milliseconds since 1970.
    init(
        useCases: SignInUseCases, registry: MetricsRegistry, readers: FeedReaders,
        now: @escaping @Sendable () -> Int64
    ) {
        (self.useCases, self.readers, self.now) = (useCases, readers, now)
        waiting = registry.gauge("siwa_event_readers", help: "Requests that read or wait for account events.")
    }

    /// Handles `GET /v1/events?after=&limit=&wait=`.
    ///
    /// `after` is the cursor of the previous page, or `latest` for the end of the feed. Without `after`, the
    /// page starts at the beginning of the feed. `wait` is in seconds.
    func page(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let query = try Query(request, of: .listEvents)
        let isLatest = query["after"] == "latest"
        let cursor = isLatest ? 0 : try query.number("after", in: 0...Int64.max, default: 0)
        let limit = try query.number(
            "limit", in: 1...Int64(SignInUseCases.largestEventPage), default: Self.defaultLimit)
        let longestWait = SignInUseCases.longestWait.components.seconds
        let wait = try query.number("wait", in: 0...longestWait, default: 0)
        let asked = Moment(milliseconds: now())
        if !isLatest { readers.note(request.caller, after: cursor, at: asked) }
        return .later { [useCases, waiting, readers] in
            waiting.increment(by: 1)
            defer { waiting.decrement(by: 1) }
            let page =
                isLatest
                ? try await useCases.latestEvents(
                    limit: Int(limit), wait: .seconds(wait), allowed: request.scope)
                : try await useCases.events(
                    after: cursor, limit: Int(limit), wait: .seconds(wait), allowed: request.scope)
            if isLatest { readers.note(request.caller, after: page.cursor, at: asked) }
            return .events(page)
        }
    }
}

/// Polling routes for configured receivers, which authenticate themselves with API keys (RFC 8936).
final class EventPollRoutes: Sendable {
    private let streams: EventStreams
    private let metrics: PollMetrics

    init(streams: EventStreams, metrics: PollMetrics) {
        (self.streams, self.metrics) = (streams, metrics)
    }

    /// Handles `POST /v1/event-receivers/{name}/poll`.
    func poll(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        _ = try Query(request, of: .pollEvents)
        // Treats a receiver that belongs to another key as unknown, so that the caller learns nothing about
        // other receivers.
        guard let receiver = streams.receiver(named: request.parameter ?? "", for: request.caller) else {
            throw Problem(.receiverNotFound)
        }
        let poll = try PollRequest(parsing: request.body)
        return .later { [streams, metrics] in
            let response = try await metrics.counting { try await streams.polling.poll(receiver, poll) }
            return .json(.ok, response, reservingCapacity: 64 + 1024 * response.tokens.count)
        }
    }
}
