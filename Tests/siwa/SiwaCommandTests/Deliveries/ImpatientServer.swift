import NIOCore
import NIOPosix
import Synchronization

/// A server that does not wait for a whole request: it answers the first bytes, or closes the first connection
/// at them and takes what comes on later ones.
final class ImpatientServer: Sendable {
    private final class Record: Sendable {
        let state = Mutex((connections: 0, received: ""))
    }

    private let channel: any Channel
    private let record: Record

    /// - Parameter answer: `nil` to close the first connection.
    init(answer: String? = nil) async throws {
        let log = Record()
        record = log
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            // The rest of a large request does not fit into the buffers of the system.
            .childChannelOption(.socketOption(.so_rcvbuf), value: 4096)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(log, answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    var received: String { record.state.withLock(\.received) }

    func close() async throws { try await channel.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let record: Record
        private let answer: String?
        private var number = 0

        init(_ record: Record, _ answer: String?) { (self.record, self.answer) = (record, answer) }

        func channelActive(context: ChannelHandlerContext) {
            number = record.state.withLock { state in
                state.connections += 1
                return state.connections
            }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let text = String(buffer: unwrapInboundIn(data))
            record.state.withLock { $0.received += text }
            if answer == nil, number == 1 { return context.close(promise: nil) }
            let response = ByteBuffer(string: answer ?? "HTTP/1.1 204 X\r\n\r\n")
            context.writeAndFlush(wrapOutboundOut(response), promise: nil)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.close(promise: nil)
        }
    }
}
