import Encodings
package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1
import ServiceLifecycle
import Synchronization

/// Serves HTTP/1.1 like Hummingbird's `HTTP1Channel`, but sets up a connection only when serving begins.
///
/// `HTTP1Channel` creates a `NIOAsyncChannel` as soon as a connection is accepted, and NIO ends the process
/// if such a channel is released before it ran ("Deinited NIOAsyncWriter without calling finish()"). After a
/// cancellation, and while it closes the socket, Hummingbird releases accepted connections without serving
/// them. With this type, Hummingbird only releases and closes a plain channel in these cases.
package struct DeferredHTTPChannel: ServerChildChannel {
    let http: HTTP1Channel
    /// Clock for the `Date` header, in milliseconds since 1970; `nil` to use the machine's clock.
    let now: (@Sendable () -> Int64)?

    package init(http: HTTP1Channel, now: (@Sendable () -> Int64)? = nil) {
        (self.http, self.now) = (http, now)
    }

    package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        // The channel must read nothing until the HTTP handlers have been added.
        channel.setOption(.autoRead, value: false).map { AcceptedConnection(channel: channel) }
    }

    package func handle(value connection: AcceptedConnection, logger: Logger) async {
        let channel = connection.beginServing()
        let prepared: HTTP1Channel.Value
        do {
            prepared = try await channel.eventLoop.flatSubmit {
                // A closed channel accepts no handlers, so the `NIOAsyncChannel` would be released unused.
                guard channel.isActive else {
                    return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
                }
                return http.setup(channel: channel, logger: logger).flatMapThrowing { prepared in
                    if let now { try ResponseDateHandler.add(to: channel, now: now) }
                    return prepared
                }
            }.get()
        } catch {
            return channel.close(promise: nil)
        }
        // The shutdown sends this event to each channel once, possibly before this channel had a handler for
        // it.
        if Task.isShuttingDownGracefully {
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
        channel.setOption(.autoRead, value: true).whenFailure { _ in channel.close(promise: nil) }
        await http.handle(value: prepared, logger: logger)
    }
}

/// An accepted connection. It closes if it is released without having been served.
package final class AcceptedConnection: ServerChildChannelValue {
    package let channel: any Channel
    private let isServed = Atomic(false)

    init(channel: any Channel) {
        self.channel = channel
    }

    /// Returns the channel. The caller must then close it.
    func beginServing() -> any Channel {
        isServed.store(true, ordering: .relaxed)
        return channel
    }

    deinit {
        // An open channel would make the client wait for a response until the process ends.
        if !isServed.load(ordering: .relaxed) { channel.close(promise: nil) }
    }
}

/// Sets the `Date` header of responses (RFC 9110, section 6.6.1) to the emulator's time.
///
/// Hummingbird writes the machine's time after the last middleware, so only a channel handler can change it.
final class ResponseDateHandler: ChannelOutboundHandler {
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let now: @Sendable () -> Int64

    private init(now: @escaping @Sendable () -> Int64) { self.now = now }

    /// Adds the handler. Must be called on the event loop, once the channel has its HTTP handlers.
    static func add(to channel: any Channel, now: @escaping @Sendable () -> Int64) throws {
        let pipeline = channel.pipeline.syncOperations
        let encoder = try pipeline.handler(type: HTTPResponseEncoder.self)
        try pipeline.addHandler(Self(now: now), position: .after(encoder))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard case .head(var head) = unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        head.headers.replaceOrAdd(name: "Date", value: HTTPDate.text(secondsSince1970: now() / 1000))
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }
}
