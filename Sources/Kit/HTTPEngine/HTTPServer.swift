// HTTPEngine owns connections and messages of HTTP/1.1: limits on clients, framing, time limits, overload. It does not
// own any route or error text, and knows no account, no token and no caller: `HTTPInterface` is what it asks.

import HummingbirdCore
package import Logging
package import NIOCore
import NIOPosix
import ServiceLifecycle

/// Accepts connections and serves an interface on them until the graceful shutdown. Then it accepts no new
/// connection, and returns when every request that has begun is answered.
package final class HTTPServer: Sendable {
    private let host: String
    private let port: Int
    private let limits: ServerLimits
    private let logger: Logger
    private let channels: HTTPChannelSetup
    private let bound = BoundPort()

    /// - Parameters:
    ///   - port: 0 lets the system choose one; see `boundPort()`.
    ///   - now: Milliseconds since 1970, for the `Date` field.
    ///   - interface: Called once on each event loop.
    ///   - noteEarlyClose: Called on any event loop for each connection that closes to make room.
    package init(
        host: String, port: Int, limits: ServerLimits, logger: Logger, now: @escaping @Sendable () -> Int64,
        interface: @escaping @Sendable (any EventLoop) -> any HTTPInterface,
        noteEarlyClose: @escaping @Sendable (EarlyCloseReason) -> Void
    ) {
        (self.host, self.port, self.limits, self.logger) = (host, port, limits, logger)
        channels = HTTPChannelSetup(
            limits: limits, date: DateHeader(now: now), interface: interface, noteEarlyClose: noteEarlyClose)
    }

    /// The port that the server listens on. Throws when it could not listen.
    package func boundPort() async throws -> Int {
        try await bound.value()
    }

    /// Throws `ListenError` when it cannot listen.
    package func run() async throws {
        let server = channels.server(
            configuration: ServerConfiguration(
                address: .hostname(host, port: port), backlog: 1024,
                availableConnectionsDelegate: MaximumAvailableConnections(limits.connections, logger: logger)),
            onServerRunning: { [bound, logger] channel in
                // Placed before Hummingbird's own handlers, which stop the server at the first error.
                try? await channel.eventLoop.submit {
                    try channel.pipeline.syncOperations.addHandler(
                        AcceptErrorHandler(logger: logger), position: .first)
                }.get()
                // `nil` when a shutdown has closed the socket already.
                bound.set(channel.localAddress?.port.map { .success($0) } ?? .failure(CancellationError()))
            },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        defer { channels.end() }
        do {
            try await server.run()
        } catch {
            // A later error of a connection ends that connection only.
            let isOfAddress =
                error is IOError || error is SocketAddressError || error is SocketAddressError.UnknownHost
            let error = isOfAddress ? ListenError(host: host, port: port, cause: error) : error
            bound.set(.failure(error))
            throw error
        }
        bound.set(.failure(CancellationError()))
    }
}
