import NIOCore

/// Tells the connection that bytes arrive, before they are a request: a client that sends its header one byte at a
/// time never gets as far as the decoder's output.
final class ArrivalHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: ConnectionHandler

    init(_ connection: ConnectionHandler) {
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard connection.bytesArrived(unwrapInboundIn(data).readableBytes) else { return }
        context.fireChannelRead(data)
    }
}
