import Logging
import NIOCore

/// Keeps the server listening when a connection cannot be accepted, and pauses before the next attempt.
///
/// A lack of file descriptors ends when connections close, but Hummingbird's server stops at every error of
/// its listening socket. The connection that could not be accepted stays in the kernel's queue and makes the
/// socket readable at once: without a pause the loop would do nothing but try.
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
        // Holding reads back is not enough: after an error the channel still wants to read, and stays
        // registered for every connection that waits.
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
