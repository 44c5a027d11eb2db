import NIOCore

/// The writing side of one connection: encodes responses, collects writes until a flush, and closes after the
/// last response. Stays on the connection's event loop.
///
/// A class, because a flush can change the channel's writability and so call the handler, which writes again.
final class ConnectionOutput {
    /// `nil` before the handler is in the pipeline, and after it has left it.
    var context: ChannelHandlerContext?
    private let date: DateHeader
    private var needsFlush = false

    init(date: DateHeader) {
        self.date = date
    }

    /// `false` while the bytes that the client has not read fill the bounds of `ServerLimits.unsentBytes`.
    var isWritable: Bool { context?.channel.isWritable ?? true }

    func write(_ response: HTTPResponse, to exchange: any HTTPExchange, closes: Bool) {
        let omitsBody = exchange.omitsBody
        fill { buffer in
            ResponseEncoder.encode(
                response, requestID: exchange.requestID, date: self.date.text, omitsBody: omitsBody,
                closes: closes, into: &buffer)
        }
        if let body = response.sharedBody, !omitsBody { write(body) }
    }

    func writeContinue() {
        fill { $0.writeStaticString(ResponseEncoder.continueResponse) }
    }

    func flush() {
        guard needsFlush, let context else { return }
        needsFlush = false
        context.flush()
    }

    /// Tells the client that nothing more will be sent. Bytes that the client still sends are read and
    /// dropped.
    func closeOutput() {
        context?.close(mode: .output, promise: nil)
    }

    /// Closes the connection as soon as everything that was written has been sent.
    func closeWhenWritten() {
        guard let context else { return }
        needsFlush = false
        // The promise of an empty write succeeds when everything before it has been sent.
        let written = context.eventLoop.makePromise(of: Void.self)
        let channel = context.channel
        written.futureResult.whenComplete { _ in channel.close(promise: nil) }
        context.writeAndFlush(NIOAny(ByteBuffer()), promise: written)
    }

    private func fill(_ encode: (inout ByteBuffer) -> Void) {
        guard let context, context.channel.isActive else { return }
        var buffer = context.channel.allocator.buffer(capacity: 1024)
        encode(&buffer)
        context.write(NIOAny(buffer), promise: nil)
        needsFlush = true
    }

    private func write(_ buffer: ByteBuffer) {
        guard let context, context.channel.isActive else { return }
        context.write(NIOAny(buffer), promise: nil)
        needsFlush = true
    }
}
