// HTTPEngine owns HTTP/1.1 connections and messages: client limits, framing, time limits and overload. It
// does not own routes, error texts, accounts, tokens or callers: `HTTPInterface` does.

import HummingbirdCore
package import Logging
public import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Synchronization

/// Accepts connections and serves an interface on them until a graceful shutdown. During the shutdown, it
/// accepts no new connection, and returns once every started request has its response.
package final class HTTPServer: Sendable {
    private let host: String
    private let port: Int
    private let limits: ServerLimits
    private let logger: Logger
    private let channels: HTTPChannelSetup
    private let bound = BoundPort()

    /// - Parameters:
    ///   - port: Port to listen on. If it is 0, the system chooses a port; see `boundPort()`.
    ///   - now: Current time in milliseconds since 1970, for the `Date` header.
    ///   - interface: Creates an interface. The server calls it once on each event loop.
    ///   - noteEarlyClose: Called for each connection that closes to make room, on any event loop.
    package init(
        host: String, port: Int, limits: ServerLimits, logger: Logger, now: @escaping @Sendable () -> Int64,
        interface: @escaping @Sendable (any EventLoop) -> any HTTPInterface,
        noteEarlyClose: @escaping @Sendable (EarlyCloseReason) -> Void
    ) {
        (self.host, self.port, self.limits, self.logger) = (host, port, limits, logger)
        channels = HTTPChannelSetup(
            limits: limits, date: DateHeader(now: now), interface: interface, noteEarlyClose: noteEarlyClose)
    }

    /// Returns the port that the server listens on. Throws an error if the server could not listen.
    package func boundPort() async throws -> Int {
        try await bound.value()
    }

    /// Runs the server. Throws `ListenError` if the server cannot listen.
    package func run() async throws {
        let server = channels.server(
            configuration: ServerConfiguration(
                address: .hostname(host, port: port), backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connections, logger: logger)),
            onServerRunning: { [bound, logger] channel in
                // The handler comes before Hummingbird's own handlers, because they stop the server at the
                // first error.
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptErrorHandler(logger: logger), position: .first)
                }.get()
                // The port is `nil` if a shutdown has already closed the socket.
                bound.set(channel.localAddress?.port.map { .success($0) } ?? .failure(CancellationError()))
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        defer { channels.end() }
        do {
            try await server.run()
        } catch {
            // A later connection error ends only that connection, so an I/O error here concerns the address.
            let isOfAddress =
                error is IOError || error is SocketAddressError || error is SocketAddressError.UnknownHost
            let error = isOfAddress ? ListenError(host: host, port: port, cause: error) : error
            bound.set(.failure(error))
            throw error
        }
        bound.set(.failure(CancellationError()))
    }
}

/// Limits on the service resources that clients can use.
public struct ServerLimits: Sendable {
    /// Maximum combined size of the request line and the header fields, in bytes.
    public var headerBytes = 16 * 1024
    public var headerFields = 64
    public var bodyBytes = 64 * 1024
    /// Size limit for the framing of a chunked body, in bytes. The framing consists of chunk sizes,
    /// extensions and line ends.
    public var framingBytes = 16 * 1024
    /// Largest number of bytes per read from a socket. The connection may have to keep all of them until
    /// earlier responses are written.
    public var readBytes = 8 * 1024
    /// Number of requests on one connection that may wait for earlier responses. The engine refuses any
    /// further request and closes the connection.
    public var waitingRequests = 32
    /// Unread response bytes above which the engine reads no more requests from a client.
    public var unsentBytes = 16 * 1024
    /// Number of bytes that all connections together may hold for incomplete bodies, not counting the first 8
    /// KiB of each body.
    public var heldBodyBytes = 32 * 1024 * 1024
    /// Time from the first to the last byte of a request. It stops clients that send one byte at a time.
    public var requestTime = TimeAmount.seconds(15)
    /// Time from the end of a request to its response, not counting intentional waits by its route. It
    /// applies only if the time limits of the database and other servers fail.
    public var workTime = TimeAmount.seconds(10)
    /// Time that a connection may stay open between two requests.
    public var idleTime = TimeAmount.seconds(60)
    /// Idle time when the number of connections is near its limit. As connections increase, the idle time
    /// shrinks from `idleTime` to this value.
    public var leastIdleTime = TimeAmount.seconds(1)
    /// Time that a response may wait for a client that does not read it.
    public var unreadResponseTime = TimeAmount.seconds(15)
    /// Time that the client of a refused request may continue to send. Without it, the client would get a
    /// connection reset instead of the response.
    public var lingerTime = TimeAmount.seconds(2)
    /// Number of connections above which new connections wait in the kernel's queue.
    public var connections = 4096
    /// Share of all connections that one address (for IPv6, one /64 network) may hold, in percent.
    public var addressShare = 50
    /// Addresses that may hold any number of connections, because many clients connect through them.
    public var trustedProxies: [AddressBlock] = []
    /// Overload limits above which the service rejects requests.
    public var admission = AdmissionBounds()

    public init() {}
}

/// Passes the server's port to the tasks that wait for it.
final class BoundPort: Sendable {
    private struct State {
        var result: Result<Int, any Error>?
        var waiters: [CheckedContinuation<Int, any Error>] = []
    }

    private let state = Mutex(State())

    /// Sets the result. Later results have no effect.
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

/// Error thrown by a server that cannot listen on its address.
public struct ListenError: Error {
    public let host: String
    public let port: Int
    /// Underlying error from the operating system.
    public let cause: any Error

    public init(host: String, port: Int, cause: any Error) {
        (self.host, self.port, self.cause) = (host, port, cause)
    }
}

/// Keeps the server listening when it cannot accept a connection, and pauses before the next attempt.
///
/// Hummingbird's server stops at any error on its listening socket, although a shortage of file descriptors
/// ends as soon as connections close. A connection that could not be accepted stays in the kernel's queue and
/// keeps the socket readable, so without a pause the loop would retry constantly.
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
        // Delaying reads is not enough: after an error the channel still intends to read, so it stays
        // registered for every waiting connection.
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

/// Builds the pipeline of an accepted connection. The service has only this one setup.
///
/// Hummingbird's server accepts, counts and quiesces connections. The engine does not use its request path,
/// because that path costs more than verifying a token, and cannot respond to a header that never ends.
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
            // Reads have a fixed size, and the loop makes one at a time, because NIO's default size grows
            // with the bytes that a client sends, and parsed requests take many times as much memory as their
            // bytes.
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

    /// Releases the connections when the service ends.
    func end() { openConnections.dissolve() }

    /// Returns when the connection has closed, so that the server waits for it at shutdown.
    func handle(value: Value, logger: Logger) async {
        await withTaskCancellationHandler {
            try? await value.channel.closeFuture.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }
}

/// Reports the number of received bytes to the connection before the decoder gets them, because the decoder
/// produces no output for a client that sends its header one byte at a time.
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
