import AppleIDClient
import AsyncHTTPClient
import EventDelivery
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import TraceExport
import Tracing
import WebOrigins

/// Posts events to one URL.
struct HTTPEventDestination: EventDestination {
    static let timeLimit: Int64 = 10_000
    /// Bytes of a response that are read, so that its connection can be used again. The rest is dropped with
    /// the connection.
    static let longestResponse = 65_536

    let connections: PinnedConnections
    private let url: String
    private let limit: TimeAmount

    init(
        _ url: WebAddress, rule: DestinationAddresses, resolver: any AddressResolver,
        tls: TLSConfiguration = .makeClientConfiguration(), limit: TimeAmount = .milliseconds(Self.timeLimit)
    ) {
        // The client finds the checked address by the letters of the host. For a host in other letters it would
        // ask the resolver itself, whose answer was not checked.
        (self.url, self.limit) = (url.text, limit)
        connections = PinnedConnections(host: url.host, rule: rule, resolver: resolver, tls: tls)
    }

    func post(_ message: EventMessage, while mayBegin: @escaping @Sendable () -> Bool) async throws {
        let start = ContinuousClock.now
        connections.gate.setCondition(mayBegin)
        defer { OutgoingRequestTime.record(endpoint: OutgoingRequestTime.delivery, since: start) }
        try await OutgoingRequestSpan.with(.deliverEvent, url) { try await post(message, in: $0) }
    }

    private func post(_ message: EventMessage, in span: any Span) async throws {
        let deadline = NIODeadline.now() + limit
        let client = try await connections.client()
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        for (name, value) in message.fields.sorted(by: { $0.key < $1.key }) {
            request.headers.add(name: name, value: value)
        }
        request.headers.add(name: "user-agent", value: "siwa")
        // Receivers are configured by the operator, whose tracing goes on there. Nothing is sent that is not recorded.
        if span.isRecording, let trace = span.context.trace {
            request.headers.add(name: "traceparent", value: trace.traceparent)
        }
        request.body = .bytes(ByteBuffer(bytes: message.body))
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: deadline)
        } catch {
            // It says nothing about the receiver.
            guard connections.gate.isOpen else { throw CancellationError() }
            // The receiver can have moved, or has an address that cannot be reached from here.
            await connections.avoidAddress()
            throw Self.error(error)
        }
        OutgoingRequestSpan.note(status: Int(response.status.code), on: span)
        await Self.read(response.body, until: deadline)
        switch response.status.code {
        case 200...299: return
        case 300...399: throw DeliveryError(.redirected, status: Int(response.status.code))
        default: throw DeliveryError(.refused, status: Int(response.status.code))
        }
    }

    /// Reads the rest of a response, which decides nothing, for as long as the attempt may take: the client's
    /// own deadline ends with the status.
    ///
    /// The timer is one of an event loop. A sleep that is cancelled stays with the system until its time: a
    /// thousand deliveries a second would leave ten thousand sleeps.
    private static func read(_ body: HTTPClientResponse.Body, until deadline: NIODeadline) async {
        let reading = Task { _ = try? await body.collect(upTo: Self.longestResponse) }
        let timer = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(deadline: deadline) {
            reading.cancel()
        }
        await withTaskCancellationHandler {
            await reading.value
        } onCancel: {
            reading.cancel()
        }
        timer.cancel()
    }

    func close() async { await connections.close() }

    private static func error(_ error: any Error) -> DeliveryError {
        switch error {
        case let error as HTTPClientError where timeouts.contains(error): DeliveryError(.timedOut)
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: DeliveryError(.certificateInvalid)
        default: DeliveryError(.unreachable)
        }
    }

    private static let timeouts: [HTTPClientError] = [
        .deadlineExceeded, .connectTimeout, .readTimeout, .getConnectionFromPoolTimeout,
        .tlsHandshakeTimeout,
    ]
}

/// For the log, which must not have a token of the path or the query.
extension HTTPEventDestination: CustomStringConvertible {
    var description: String { "HTTPEventDestination(\(connections.host))" }
}
