import AppleAccounts
import AuthorizationServer
import Commits
import EventDelivery
import HTTPEngine
import NIOHTTP1
import OAuth
import StrictJSON

/// OAuth clients' event streams (OpenID Shared Signals Framework 1.0). A client has at most one stream, and
/// sees only its own stream.
final class EventStreamRoutes: Sendable {
    private let server: OAuthServer
    private let streams: EventStreams
    private let authentication: ClientAuthenticating
    private let metrics: PollMetrics
    private let document: [UInt8]

    init(
        server: OAuthServer, streams: EventStreams, authentication: ClientAuthenticating,
        metrics: PollMetrics
    ) {
        (self.server, self.streams) = (server, streams)
        (self.authentication, self.metrics) = (authentication, metrics)
        document = SSFConfiguration(issuer: server.dependencies.settings.issuer).json()
    }

    /// Handles `GET /.well-known/ssf-configuration` (§7.1).
    func configuration() -> Step<HTTPResponse> {
        .now(HTTPResponse.publicDocument(document))
    }

    /// Handles `POST /oauth/events/poll` (RFC 8936).
    func poll(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let stream = try stream(request)
        guard case .poll(let receiver) = stream.delivery else { throw Problem(.streamNotFound) }
        let poll = try PollRequest(parsing: request.body)
        return .later { [streams, metrics] in
            let response = try await metrics.counting { try await streams.polling.poll(receiver, poll) }
            return .oauth(.ok, response.json(reservingCapacity: 64 + 1024 * response.tokens.count))
        }
    }

    /// Handles `GET /oauth/events/stream` (§8.1.1.2): returns the stream with `stream_id`, or all streams
    /// without `stream_id`.
    func show(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let (client, stream) = try clientAndStream(request)
        let query = try Query(request, of: .showEventStream)
        let shown = EventStream(
            stream: stream, client: client.id, issuer: server.dependencies.settings.issuer)
        guard let id = query["stream_id"] else {
            return .now(.oauth(.ok, [shown].json(reservingCapacity: 1024)))
        }
        guard id.utf8.elementsEqual(stream.name.rawValue.utf8) else { throw Problem(.streamNotFound) }
        return .now(.oauth(.ok, shown.json(reservingCapacity: 1024)))
    }

    /// Handles `POST /oauth/events/verify` (§8.1.4.2).
    func verify(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let stream = try stream(request)
        let body = try VerificationRequest(parsing: request.body)
        guard body.stream.utf8.elementsEqual(stream.name.rawValue.utf8) else {
            throw Problem(.streamNotFound)
        }
        return .later { [streams] in
            switch try await streams.requestVerification(of: stream.name, state: body.state) {
            case .accepted: return HTTPResponse(status: .noContent, contentType: nil, body: [])
            case .tooSoon:
                throw Problem(
                    .verificationTooSoon, retryAfter: Int(StreamVerification.interval / 1000))
            case .paused: throw ReceiverPaused()
            case .unknownReceiver: throw Problem(.streamNotFound)
            }
        }
    }

    private func stream(_ request: HTTPRequest) throws -> EventStreams.ClientStream {
        try clientAndStream(request).stream
    }

    private func clientAndStream(
        _ request: HTTPRequest
    ) throws -> (client: OAuthClient, stream: EventStreams.ClientStream) {
        let unauthenticated = try StreamRequest(authorization: request.oauth?.authorization)
        let client = try authentication(unauthenticated, request)
        guard let stream = streams.stream(of: client.id) else { throw Problem(.streamNotFound) }
        return (client, stream)
    }
}
