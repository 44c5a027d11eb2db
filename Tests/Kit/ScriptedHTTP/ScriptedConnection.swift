import NIOCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One connection of a `ScriptedServer`.
final class ScriptedConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let record: ScriptedServerRecord
    private var received = ""

    init(record: ScriptedServerRecord) { self.record = record }

    func channelActive(context: ChannelHandlerContext) { record.connections.withLock { $0 += 1 } }

    func channelInactive(context: ChannelHandlerContext) { record.connections.withLock { $0 -= 1 } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        guard isWhole else { return }
        let number = record.requests.withLock { requests in
            requests.append(received)
            return requests.count
        }
        received = ""
        switch record.response(number) {
        case .send(let text): write(text, context)
        case .sendAndClose(let text):
            write(text, context)
            context.close(promise: nil)
        case .sendForever(let text, let chunk, let pause):
            write(text, context)
            writeForever(chunk, pause, context)
        case .reset:
            // Without time to send the rest, the system resets the connection when it is closed.
            _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            context.close(promise: nil)
        case .nothing: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// True once the head and the whole announced body have arrived.
    private var isWhole: Bool {
        guard let end = received.firstRange(of: "\r\n\r\n")?.upperBound else { return false }
        let field = received[..<end].split(separator: "\r\n").first {
            $0.lowercased().hasPrefix("content-length:")
        }
        let length = field.flatMap { Int($0.drop { $0 != ":" }.dropFirst().filter { $0 != " " }) } ?? 0
        return received[end...].utf8.count >= length
    }

    private func write(_ text: String, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }

    private func writeForever(_ chunk: String, _ pause: TimeAmount, _ context: ChannelHandlerContext) {
        guard context.channel.isActive else { return }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: chunk))).whenSuccess {
            bound.value.1.eventLoop.scheduleTask(in: pause) {
                let (connection, context) = bound.value
                connection.writeForever(chunk, pause, context)
            }
        }
    }
}
