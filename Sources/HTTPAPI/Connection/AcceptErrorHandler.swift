import Logging
import NIOCore

/// Keeps the server listening when a connection cannot be accepted.
///
/// Running out of file descriptors is over when connections close; Hummingbird's server takes every error on its
/// listening socket for the end.
final class AcceptErrorHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    private let logger: Logger

    init(logger: Logger) {
        self.logger = logger
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.warning("connection not accepted", metadata: ["error_type": "\(type(of: error))"])
    }
}
