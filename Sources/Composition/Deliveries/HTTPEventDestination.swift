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

/// The HTTP client of one receiver, whose connections go to one address that was checked.
///
/// The client never resolves the name itself: otherwise a name server could give an allowed address for the
/// check, and another one for the connection (DNS rebinding). Certificate and `Host` are those of the name.
actor PinnedConnections {
    /// The time after which the name is resolved again, for receivers that move.
    static let freshFor = Duration.seconds(30)
    /// The time after which the connections to an old address are closed: longer than an attempt.
    private static let retirement = Duration.seconds(15)

    private struct Pin {
        let address: String
        let client: HTTPClient
        var checkedAt: ContinuousClock.Instant
    }

    let host: String
    /// The condition under which requests are sent.
    let gate = RequestGate()
    private let rule: DestinationAddresses
    private let resolver: any AddressResolver
    private let tls: TLSConfiguration
    private var pin: Pin?
    /// The address to which the last connection failed. Another one of the name's is tried first.
    private var avoided: String?
    private var checking: Task<HTTPClient, any Error>?

    init(
        host: String, rule: DestinationAddresses, resolver: any AddressResolver, tls: TLSConfiguration
    ) {
        (self.host, self.rule, self.resolver, self.tls) = (host, rule, resolver, tls)
    }

    /// - Throws: `DeliveryError`.
    func client() async throws -> HTTPClient {
        if let pin, ContinuousClock.now - pin.checkedAt < Self.freshFor { return pin.client }
        if let checking { return try await checking.value }
        // One attempt that is cut off must not end the check for the others.
        let task = Task { try await check() }
        checking = task
        defer { checking = nil }
        return try await task.value
    }

    /// Forgets the address, so that the next attempt resolves the name again.
    func expire() {
        pin?.checkedAt = ContinuousClock.now - Self.freshFor
    }

    /// Notes that the address does not answer.
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
        // A name that leads to a private address besides public ones is not a mistake of a receiver.
        guard addresses.allSatisfy(rule.allow) else { throw DeliveryError(.addressRefused) }
        let address = addresses.first { $0 != avoided } ?? first
        if let held = pin,
            held.address == address || addresses.contains(held.address) && held.address != avoided
        {
            pin?.checkedAt = ContinuousClock.now
            return held.client
        }
        if let old = pin?.client {
            // Attempts on it end before. At the end of the process the system closes its connections.
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
        // `HTTPEventDestination` makes the spans, without values of a URL or a header.
        configuration.tracing.tracer = nil
        configuration.boundResponses()
        gate.guardRequests(of: &configuration)
        return configuration
    }
}

/// Lets no part of a request pass to the system unless a condition holds at that moment.
///
/// A process that is stopped between the decision to send and the bytes sends them when it goes on, which may be
/// much later. With both processors busy most of the time between the two passes in queues of the client and its event
/// loop, so the condition is asked behind them. What the system has taken already cannot be taken back.
final class RequestGate: Sendable {
    /// The condition did not hold.
    struct Closed: Error {}

    private let condition = Mutex<@Sendable () -> Bool>({ true })

    var isOpen: Bool { condition.withLock { $0 }() }

    /// Sets the condition for all requests that are not sent yet.
    func setCondition(_ condition: @escaping @Sendable () -> Bool) {
        self.condition.withLock { $0 = condition }
    }

    /// Puts the gate into each connection of a client, behind what the client puts there.
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

/// The gate in one connection. It closes the connection of a request that may not be sent.
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
        // The client is in the middle of its write, and must not get the error there.
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.eventLoop.execute {
            bound.value.fireErrorCaught(RequestGate.Closed())
            bound.value.close(promise: nil)
        }
    }
}
