import AppleIDClient
import AsyncHTTPClient
import EventDelivery
import NIOCore
import NIOHTTP1
import TraceExport

/// Posts security event tokens to Google (`events:report`).
struct GoogleEventReporter: EventDestination {
    static let timeLimit: Int64 = 10_000

    private let client: HTTPClient
    private let url: String
    private let limit: TimeAmount

    /// - Parameters:
    ///   - client: The HTTP client. It must not follow redirects, because only Google may receive the token.
    ///   - limit: Time limit for the whole report.
    init(
        client: HTTPClient, endpoints: GoogleEndpoints, limit: TimeAmount = .milliseconds(Self.timeLimit)
    ) {
        (self.client, url, self.limit) = (client, endpoints.eventsReport, limit)
    }

    /// Posts a token. The HTTP client is shared, so its connections have no gate, and the condition is
    /// checked only once, before the request.
    func post(_ message: EventMessage, while mayBegin: @escaping @Sendable () -> Bool) async throws {
        guard mayBegin() else { throw CancellationError() }
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        for (name, value) in message.fields.sorted(by: { $0.key < $1.key }) {
            request.headers.add(name: name, value: value)
        }
        request.headers.add(name: "user-agent", value: "siwa")
        request.body = .bytes(ByteBuffer(bytes: message.body))
        let start = ContinuousClock.now
        defer { OutgoingRequestTime.record(url, since: start) }
        try await OutgoingRequestSpan.with(.callGoogle, url) { [request] span in
            let status: Int
            do {
                // The status is enough. The client closes the connection if the body is not read.
                status = Int(try await client.execute(request, timeout: limit).status.code)
            } catch {
                throw DeliveryError(.unreachable)
            }
            OutgoingRequestSpan.note(status: status, on: span)
            try Self.check(status)
        }
    }

    private static func check(_ status: Int) throws(DeliveryError) {
        switch status {
        case 202: return
        case 300...399: throw DeliveryError(.redirected, status: status)
        // RFC 8935 §2.4 defines this status for an invalid token. Any other error status means that Google
        // accepts no tokens at all: the credentials or the URL are wrong, requests are too frequent, or
        // Google has an outage.
        case 400: throw DeliveryError(.eventRefused, status: status)
        default: throw DeliveryError(.refused, status: status)
        }
    }
}
