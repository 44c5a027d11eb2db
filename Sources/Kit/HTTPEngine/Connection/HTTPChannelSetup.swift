import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

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
            // A read of fixed size, one at a time: NIO's default grows with what a client sends, and parsed
            // requests take many times the bytes of the read.
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

/// Tells the connection how many bytes arrive, before the decoder: a client that sends its header one byte at
/// a time never causes any output of the decoder.
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
