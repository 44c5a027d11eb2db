import AppleAccounts
import AuthorizationServer
import EventDelivery
import HTTPEngine
import NIOHTTP1
import OAuth
import StrictJSON

/// The event streams of OAuth clients (OpenID Shared Signals Framework 1.0). A client has one stream at most, and
/// sees no other.
final class EventStreamRoutes: Sendable {
    static let pushMethod = "urn:ietf:rfc:8935"
    static let pollMethod = "urn:ietf:rfc:8936"

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
        document = Self.configuration(of: server.dependencies.settings.issuer)
    }

    /// `GET /.well-known/ssf-configuration` (§7.1)
    func configuration() -> RouteResult {
        .response(HTTPResponse.publicDocument(document))
    }

    /// `POST /oauth/events/poll` (RFC 8936)
    func poll(_ request: HTTPRequest) throws -> RouteResult {
        let stream = try stream(request)
        guard case .poll(let receiver) = stream.delivery else { throw Problem(.streamNotFound) }
        let poll = try PollRequest(parsing: request.body)
        return .later { [streams, metrics] in
            let response = try await metrics.counting { try await streams.polling.poll(receiver, poll) }
            return .oauth(.ok, response.json)
        }
    }

    /// `GET /oauth/events/stream` (§8.1.1.2): the stream with `stream_id`, and without it the list of all
    func show(_ request: HTTPRequest) throws -> RouteResult {
        let (client, stream) = try clientAndStream(request)
        let query = try Query(parsing: request.query, allowing: ["stream_id"])
        var json = JSONWriter(reservingCapacity: 1024)
        if let id = query["stream_id"] {
            guard id.utf8.elementsEqual(stream.name.rawValue.utf8) else { throw Problem(.streamNotFound) }
            write(stream, of: client, into: &json)
        } else {
            json.beginArray()
            json.element()
            write(stream, of: client, into: &json)
            json.endArray()
        }
        return .response(.oauth(.ok, json.bytes))
    }

    /// `POST /oauth/events/verify` (§8.1.4.2)
    func verify(_ request: HTTPRequest) throws -> RouteResult {
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

    private func write(
        _ stream: EventStreams.ClientStream, of client: OAuthClient, into json: inout JSONWriter
    ) {
        let issuer = server.dependencies.settings.issuer
        json.beginObject()
        json.member("stream_id", stream.name.rawValue)
        json.member("iss", issuer.text)
        json.member("aud", client.id.rawValue)
        json.name("delivery")
        json.beginObject()
        switch stream.delivery {
        case .push(let url):
            json.member("method", Self.pushMethod)
            json.member("endpoint_url", url)
        case .poll:
            json.member("method", Self.pollMethod)
            json.member("endpoint_url", issuer.url(Endpoint.pollClientEvents.path.description))
        }
        json.endObject()
        let supported = ClientEvents.kinds
        Self.write(supported, as: "events_supported", into: &json)
        Self.write(supported.filter(stream.kinds.contains), as: "events_requested", into: &json)
        Self.write(supported.filter(stream.kinds.contains), as: "events_delivered", into: &json)
        json.member("min_verification_interval", StreamVerification.interval / 1000)
        json.endObject()
    }

    private static func write(
        _ kinds: [AccountEvent.Kind], as name: StaticString, into json: inout JSONWriter
    ) {
        json.name(name)
        json.beginArray()
        for kind in kinds {
            json.element()
            json.value(.string(kind.securityEventType.uri))
        }
        json.endArray()
    }

    private static func configuration(of issuer: Issuer) -> [UInt8] {
        func url(_ endpoint: Endpoint) -> JSONValue { .string(issuer.url(endpoint.path.description)) }
        // RFC 7617: client ID and secret by HTTP Basic.
        let scheme = JSONObject([("spec_urn", .string("urn:ietf:rfc:7617"))])
        return JSONValue.object(
            JSONObject([
                ("spec_version", .string("1_0")),
                ("issuer", .string(issuer.text)),
                ("jwks_uri", url(.getKeySet)),
                ("delivery_methods_supported", .array([.string(pushMethod), .string(pollMethod)])),
                ("configuration_endpoint", url(.showEventStream)),
                ("verification_endpoint", url(.verifyEventStream)),
                // Subjects have no parts.
                ("critical_subject_members", .array([])),
                ("authorization_schemes", .array([.object(scheme)])),
                // All users who granted the client something.
                ("default_subjects", .string("ALL")),
            ])
        ).serialized()
    }
}
