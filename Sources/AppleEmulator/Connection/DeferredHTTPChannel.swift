import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle

/// Serves HTTP/1.1 as Hummingbird's `HTTP1Channel` does, but prepares a connection only when its serving begins.
///
/// `HTTP1Channel` makes a `NIOAsyncChannel` as soon as a connection is accepted, and NIO ends the process when one is
/// dropped that never ran ("Deinited NIOAsyncWriter without calling finish()"). Hummingbird drops connections that it
/// has accepted and does not serve yet: when it is cancelled, and when one arrives while the socket is being closed.
/// Here a plain channel is dropped then, which is closed.
struct DeferredHTTPChannel: ServerChildChannel {
    let http: HTTP1Channel

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        // Nothing is read before the handlers that understand it are there.
        channel.setOption(.autoRead, value: false).map { AcceptedConnection(channel: channel) }
    }

    func handle(value connection: AcceptedConnection, logger: Logger) async {
        let channel = connection.beginServing()
        let prepared: HTTP1Channel.Value
        do {
            prepared = try await channel.eventLoop.flatSubmit {
                // A closed channel takes no more handlers, and the NIOAsyncChannel would be dropped.
                guard channel.isActive else {
                    return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
                }
                return http.setup(channel: channel, logger: logger)
            }.get()
        } catch {
            return channel.close(promise: nil)
        }
        // The shutdown tells each channel once, and did so perhaps before there was a handler to hear it.
        if Task.isShuttingDownGracefully {
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
        channel.setOption(.autoRead, value: true).whenFailure { _ in channel.close(promise: nil) }
        await http.handle(value: prepared, logger: logger)
    }
}
