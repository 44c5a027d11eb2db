import AppleIDClient
import AsyncHTTPClient
import Encodings
import EventDelivery
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import OutgoingHTTP
import Synchronization
import TraceExport
import Tracing

/// A destination that posts events to one URL.
struct HTTPEventDestination: EventDestination {
    static let timeLimit: Int64 = 10_000
    /// Maximum number of response body bytes that are read in order to reuse the connection. After a longer
    /// body, the connection closes.
    static let longestResponse = 65_536

    let connections: PinnedConnections
    private let url: String
    private let limit: TimeAmount

    init(
        _ url: WebAddress, rule: DestinationAddresses, resolver: any AddressResolver,
        tls: TLSConfiguration = .makeClientConfiguration(), limit: TimeAmount = .milliseconds(Self.timeLimit)
    ) {
        // The client finds the checked address only by the exact host spelling; any other spelling would use
        // the unchecked resolver.
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
        // Propagates traces, because the operator configures the receivers. Sends only the context of
        // recorded spans.
        if span.isRecording, let trace = span.context.trace {
            request.headers.add(name: "traceparent", value: trace.traceparent)
        }
        request.body = .bytes(ByteBuffer(bytes: message.body))
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, deadline: deadline)
        } catch {
            // A closed gate is not the receiver's error.
            guard connections.gate.isOpen else { throw CancellationError() }
            // The receiver may have a new address, or its address may be unreachable from this machine.
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

    /// Reads the rest of a response within the attempt's time limit, because the client's own deadline covers
    /// only the response head. The body does not affect the result.
    ///
    /// Uses an event loop timer, because the system keeps a cancelled sleep until its deadline, so a thousand
    /// deliveries per second would leave ten thousand sleeps.
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

/// A description for the log. It omits the URL's path and query, which can contain secrets.
extension HTTPEventDestination: CustomStringConvertible {
    var description: String { "HTTPEventDestination(\(connections.host))" }
}

/// One receiver's HTTP client. It connects only to one checked address.
///
/// The client never resolves the name itself, because a name server could return an allowed address for the
/// check and another address for the connection (DNS rebinding). The certificate check and `Host` use the
/// name.
actor PinnedConnections {
    /// Lifetime of a resolved address. Afterwards the name is resolved again, because addresses can change.
    static let freshFor = Duration.seconds(30)
    /// Delay before connections to an old address close. It is longer than an attempt.
    private static let retirement = Duration.seconds(15)

    private struct Pin {
        let address: String
        let client: HTTPClient
        var checkedAt: ContinuousClock.Instant
    }

    let host: String
    /// The gate that requests pass before they are sent.
    let gate = RequestGate()
    private let rule: DestinationAddresses
    private let resolver: any AddressResolver
    private let tls: TLSConfiguration
    private var pin: Pin?
    /// The address of the last failed connection. The client prefers the name's other addresses.
    private var avoided: String?
    private var checking: Task<HTTPClient, any Error>?

    init(
        host: String, rule: DestinationAddresses, resolver: any AddressResolver, tls: TLSConfiguration
    ) {
        (self.host, self.rule, self.resolver, self.tls) = (host, rule, resolver, tls)
    }

    /// Returns a client for the checked address.
    func client() async throws -> HTTPClient {
        if let pin, ContinuousClock.now - pin.checkedAt < Self.freshFor { return pin.client }
        if let checking { return try await checking.value }
        // The task is unstructured, because cancelling one attempt must not cancel the check for other
        // attempts.
        let task = Task { try await check() }
        checking = task
        defer { checking = nil }
        return try await task.value
    }

    /// Discards the address, so that the next attempt resolves the name again.
    func expire() {
        pin?.checkedAt = ContinuousClock.now - Self.freshFor
    }

    /// Records that the current address does not respond.
    func avoidAddress() {
        avoided = pin?.address
        expire()
    }

    func close() async {
        let client = pin?.client
        pin = nil
        try? await client?.shutdown()
    }

    private func check() async throws -> HTTPClient {
        let addresses = try await resolver.addresses(of: host)
        guard let first = addresses.first else { throw DeliveryError(.nameUnresolved) }
        // Refuses a mix of public and private addresses, because such a mix is not an accident.
        guard addresses.allSatisfy(rule.allow) else { throw DeliveryError(.addressRefused) }
        let address = addresses.first { $0 != avoided } ?? first
        if let held = pin,
            held.address == address || addresses.contains(held.address) && held.address != avoided
        {
            pin?.checkedAt = ContinuousClock.now
            return held.client
        }
        if let old = pin?.client {
            // Attempts with the old client finish before this delay ends. If the process exits earlier, the
            // system closes the connections.
            Task {
                try? await Task.sleep(for: Self.retirement)
                try? await old.shutdown()
            }
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration(address))
        pin = Pin(address: address, client: client, checkedAt: ContinuousClock.now)
        return client
    }

    private func configuration(_ address: String) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow,
            decompression: .disabled)
        configuration.timeout.connect = .seconds(5)
        configuration.dnsOverride = [host: address]
        configuration.connectionPool.retryConnectionEstablishment = false
        // `HTTPEventDestination` records the spans itself, without URL or header values.
        configuration.tracing.tracer = nil
        configuration.boundResponses()
        gate.guardRequests(of: &configuration)
        return configuration
    }
}

/// Passes a request to the system only if a condition holds at that moment.
///
/// A process suspended between decision and send would send the bytes when it resumes, possibly much later.
/// On busy processors, most of the delay occurs in the queues of the client and its event loop, so the gate
/// checks the condition after these queues. It cannot recall bytes that the system has accepted.
final class RequestGate: Sendable {
    /// Thrown for a request that is not sent because the condition does not hold.
    struct Closed: Error {}

    private let condition = Mutex<@Sendable () -> Bool>({ true })

    var isOpen: Bool { condition.withLock { $0 }() }

    /// Sets the condition for all requests that have not been sent yet.
    func setCondition(_ condition: @escaping @Sendable () -> Bool) {
        self.condition.withLock { $0 = condition }
    }

    /// Adds the gate to each of a client's connections, behind the client's own handlers.
    func guardRequests(of configuration: inout HTTPClient.Configuration) {
        let before = configuration.http1_1ConnectionDebugInitializer
        configuration.http1_1ConnectionDebugInitializer = { [self] channel in
            (before?(channel) ?? channel.eventLoop.makeSucceededVoidFuture()).flatMapThrowing {
                let pipeline = channel.pipeline.syncOperations
                let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
                try pipeline.addHandler(RequestGateHandler(self), position: .after(encoder))
            }
        }
    }
}

/// One connection's gate. It closes the connection if a request must not be sent.
private final class RequestGateHandler: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let gate: RequestGate
    private var isClosed = false

    init(_ gate: RequestGate) { self.gate = gate }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if !isClosed, gate.isOpen {
            context.write(data, promise: promise)
            return
        }
        promise?.fail(RequestGate.Closed())
        guard !isClosed else { return }
        isClosed = true
        // The error is delivered later, because the client is still inside its write call and must not
        // receive the error there.
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.execute {
            bound.value.fireErrorCaught(RequestGate.Closed())
            bound.value.close(promise: nil)
        }
    }
}
