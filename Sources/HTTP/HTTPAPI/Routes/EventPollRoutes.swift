import EventDelivery
import HTTPEngine
import NIOHTTP1

/// The polls of configured receivers, by API key (RFC 8936).
final class EventPollRoutes: Sendable {
    private let streams: EventStreams
    private let metrics: PollMetrics

    init(streams: EventStreams, metrics: PollMetrics) {
        (self.streams, self.metrics) = (streams, metrics)
    }

    /// `POST /v1/event-receivers/{name}/poll`
    func poll(_ request: HTTPRequest) throws -> RouteResult {
        _ = try Query(parsing: request.query, allowing: [])
        // A receiver of another key is unknown, so that a key learns nothing of the others.
        guard let receiver = streams.receiver(named: request.parameter ?? "", for: request.caller) else {
            throw Problem(.receiverNotFound)
        }
        let poll = try PollRequest(parsing: request.body)
        return .later { [streams, metrics] in
            let response = try await metrics.counting { try await streams.polling.poll(receiver, poll) }
            return .json(.ok, response.json)
        }
    }
}
