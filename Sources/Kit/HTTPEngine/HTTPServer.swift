// HTTPEngine owns connections and messages of HTTP/1.1: limits on clients, framing, time limits, overload. It
// does not own any route or error text, and knows no account, token or caller: `HTTPInterface` does.

import HummingbirdCore
package import Logging
public import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Accepts connections and serves an interface on them until the graceful shutdown. Then it accepts no new
/// connection, and returns when every started request has its response.
package final class HTTPServer: Sendable {
    private let host: String
    private let port: Int
    private let limits: ServerLimits
    private let logger: Logger
    private let channels: HTTPChannelSetup
    private let bound = BoundPort()

    /// - Parameters:
    ///   - port: 0 lets the system choose one; see `boundPort()`.
    ///   - now: Milliseconds since 1970, for the `Date` field.
    ///   - interface: Called once on each event loop.
    ///   - noteEarlyClose: Called on any event loop for each connection that closes to make room.
    package init(
        host: String, port: Int, limits: ServerLimits, logger: Logger, now: @escaping @Sendable () -> Int64,
        interface: @escaping @Sendable (any EventLoop) -> any HTTPInterface,
        noteEarlyClose: @escaping @Sendable (EarlyCloseReason) -> Void
    ) {
        (self.host, self.port, self.limits, self.logger) = (host, port, limits, logger)
        channels = HTTPChannelSetup(
            limits: limits, date: DateHeader(now: now), interface: interface, noteEarlyClose: noteEarlyClose)
    }

    /// Returns the port that the server listens on. Throws when it could not listen.
    package func boundPort() async throws -> Int {
        try await bound.value()
    }

    /// Runs the server. Throws `ListenError` when it cannot listen.
    package func run() async throws {
        let server = channels.server(
            configuration: ServerConfiguration(
                address: .hostname(host, port: port), backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connections, logger: logger)),
            onServerRunning: { [bound, logger] channel in
                // Placed before Hummingbird's own handlers, which stop the server at the first error.
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptErrorHandler(logger: logger), position: .first)
                }.get()
                // `nil` when a shutdown has already closed the socket.
                bound.set(channel.localAddress?.port.map { .success($0) } ?? .failure(CancellationError()))
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        defer { channels.end() }
        do {
            try await server.run()
        } catch {
            // A later error of a connection ends only that connection.
            let isOfAddress =
                error is IOError || error is SocketAddressError || error is SocketAddressError.UnknownHost
            let error = isOfAddress ? ListenError(host: host, port: port, cause: error) : error
            bound.set(.failure(error))
            throw error
        }
        bound.set(.failure(CancellationError()))
    }
}

/// Limits on the service's resources that clients can use.
public struct ServerLimits: Sendable {
    /// Request line and header fields together, in bytes.
    public var headerBytes = 16 * 1024
    public var headerFields = 64
    public var bodyBytes = 64 * 1024
    /// All bytes of a chunked body except its content: sizes, extensions and line ends together.
    public var framingBytes = 16 * 1024
    /// Number of bytes that one read takes from a socket. One read may wait for a response.
    public var readBytes = 8 * 1024
    /// Largest number of requests of one connection that may wait for the response before them. The engine
    /// refuses a further request and closes the connection.
    public var waitingRequests = 32
    /// Number of unread bytes of responses above which no more requests are read from a client.
    public var unsentBytes = 16 * 1024
    /// Largest number of bytes of incomplete bodies that all connections together
    /// may hold, not counting the first 8 KiB of each.
    public var heldBodyBytes = 32 * 1024 * 1024
    /// Time from the first byte of a request to its last. Bounds clients that send one byte at a time.
    public var requestTime = TimeAmount.seconds(15)
    /// Time from the end of a request to its response, in addition to the time that its
    /// route intentionally waits. The database and other servers have their own time
    /// limits; this limit applies when those limits fail.
    public var workTime = TimeAmount.seconds(10)
    /// Time for which a connection may stay open between two requests.
    public var idleTime = TimeAmount.seconds(60)
    /// Idle time when the number of connections is near its limit. Between few and many connections the idle
    /// time shrinks.
    public var leastIdleTime = TimeAmount.seconds(1)
    /// Time for which a response may wait for a client that does not read.
    public var unreadResponseTime = TimeAmount.seconds(15)
    /// Time for which the client of a refused request may continue to send, so that
    /// it can read the response instead of a reset.
    public var lingerTime = TimeAmount.seconds(2)
    /// Number of connections above which new connections wait in the kernel's queue.
    public var connections = 4096
    /// The part of all connections that one address may hold, in
    /// percent. For IPv6 the address is the /64 network.
    public var addressShare = 50
    /// Addresses that may hold any number of connections, because many clients connect through them.
    public var trustedProxies: [AddressBlock] = []
    /// Bounds above which requests are rejected because of overload.
    public var admission = AdmissionBounds()

    public init() {}
}

/// Passes the port that the server listens on to tasks that wait for it.
final class BoundPort: Sendable {
    private struct State {
        var result: Result<Int, any Error>?
        var waiters: [CheckedContinuation<Int, any Error>] = []
    }

    private let state = Mutex(State())

    /// Sets the result. Only the first result counts.
    func set(_ result: Result<Int, any Error>) {
        let waiters = state.withLock { state in
            if state.result == nil { state.result = result }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume(with: result) }
    }

    func value() async throws -> Int {
        try await withCheckedThrowingContinuation { waiter in
            let result = state.withLock { state in
                if state.result == nil { state.waiters.append(waiter) }
                return state.result
            }
            if let result { waiter.resume(with: result) }
        }
    }
}

/// The service could not listen on its address.
public struct ListenError: Error {
    public let host: String
    public let port: Int
    /// The error of the operating system.
    public let cause: any Error

    public init(host: String, port: Int, cause: any Error) {
        (self.host, self.port, self.cause) = (host, port, cause)
    }
}

/// Keeps the server listening when a connection cannot be accepted, and pauses before the next attempt.
///
/// A lack of file descriptors ends when connections close, but Hummingbird's server stops at every error of
/// its listening socket. The connection that could not be accepted stays in the kernel's queue and makes the
/// socket readable at once: without a pause the loop would only retry.
final class AcceptErrorHandler: ChannelDuplexHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel
    typealias OutboundIn = Never

    static let rest = TimeAmount.milliseconds(100)

    private let logger: Logger
    private var isResting = false
    private var isReadHeld = false

    init(logger: Logger) {
        self.logger = logger
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isResting else { return }
        isResting = true
        logger.warning("connection not accepted", metadata: ["error_type": "\(type(of: error))"])
        // Holding reads back does not suffice: after an error the channel still wants to read, and
        // stays registered for every connection that waits.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        let handler = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.rest) {
            let (handler, context) = handler.value
            handler.isResting = false
            try? context.channel.syncOptions?.setOption(.autoRead, value: true)
            guard handler.isReadHeld else { return }
            handler.isReadHeld = false
            context.read()
        }
    }

    func read(context: ChannelHandlerContext) {
        if isResting { isReadHeld = true } else { context.read() }
    }
}

/// Builds the pipeline of an accepted connection. The service has one setup.
///
/// Hummingbird's server accepts, counts and quiesces connections. Its request path is not used: it costs more
/// than the verification of a token, and cannot respond to a header that never ends.
struct HTTPChannelSetup: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
    }

    private let limits: ServerLimits
    private let openConnections: OpenConnections
    private let loops: EventLoopLocal<ConnectionLoop>

    init(
        limits: ServerLimits, date: DateHeader,
        interface: @escaping @Sendable (any EventLoop) -> any HTTPInterface,
        noteEarlyClose: @escaping @Sendable (EarlyCloseReason) -> Void
    ) {
        self.limits = limits
        let openConnections = OpenConnections(limits: limits, noteEarlyClose: noteEarlyClose)
        self.openConnections = openConnections
        let bodies = BodyMemoryBudget(most: limits.heldBodyBytes)
        loops = EventLoopLocal {
            ConnectionLoop(
                $0, interface: interface($0), date: date, limits: limits,
                openConnections: openConnections, bodies: bodies)
        }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            var decoderLimits = NIOHTTPDecoderLimitConfiguration()
            decoderLimits.maxHeaderFieldSize = limits.headerBytes
            decoderLimits.maxHeaderListSize = limits.headerBytes
            decoderLimits.maxHeaderFieldCount = limits.headerFields
            let decoder = HTTPRequestDecoder(
                leftOverBytesStrategy: .dropBytes, limitConfiguration: decoderLimits)
            // A read of fixed size, one at a time: NIO's default size grows with the bytes that a client
            // sends, and parsed requests take many times the bytes of the read.
            let options = channel.syncOptions
            try options?.setOption(
                .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: limits.readBytes))
            try options?.setOption(.maxMessagesPerRead, value: 1)
            try options?.setOption(
                .writeBufferWaterMark, value: .init(low: limits.unsentBytes / 2, high: limits.unsentBytes))
            let connection = ConnectionHandler(
                loop: loops.value(on: channel.eventLoop), remoteAddress: channel.remoteAddress)
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(ArrivalHandler(connection))
            try pipeline.addHandler(ByteToMessageHandler(decoder))
            try pipeline.addHandler(connection)
            return Value(channel: channel)
        }
    }

    /// Called at the end of the service.
    func end() { openConnections.dissolve() }

    /// Returns when the connection is closed, so that the server waits for it at shutdown.
    func handle(value: Value, logger: Logger) async {
        await withTaskCancellationHandler {
            try? await value.channel.closeFuture.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }
}

/// Reports the number of bytes to the connection before the decoder gets them: a client that sends its header
/// one byte at a time never causes any output of the decoder.
final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: ConnectionHandler

    init(_ connection: ConnectionHandler) {
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard connection.bytesReceived(unwrapInboundIn(data).readableBytes) else { return }
        context.fireChannelRead(data)
    }
}
