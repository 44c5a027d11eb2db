package import NIOCore
import NIOPosix
import Synchronization

/// A server on a real socket that sends any bytes, also bytes that a server library would not send.
package final class ScriptedServer: Sendable {
    package enum Response: Sendable {
        case send(String)
        /// Sends the text, then closes the connection.
        case sendAndClose(String)
        /// Sends the text, then this chunk until the client closes the connection.
        case sendForever(String, chunk: String, pause: TimeAmount)
        /// Ends the connection with a reset.
        case reset
        case nothing
    }

    package let port: Int
    private let channel: any Channel
    private let record: ScriptedServerRecord

    /// The received request heads.
    package var requests: [String] { record.requests.withLock { $0 } }
    /// Connections that are open now.
    package var openConnections: Int { record.connections.withLock { $0 } }

    /// Starts the server. `answer` receives the number of the request, from 1.
    package init(_ response: @escaping @Sendable (Int) -> Response) async throws {
        let record = ScriptedServerRecord(response: response)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ScriptedConnection(record: record))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.record = record
        port = channel.localAddress?.port ?? 0
    }

    package convenience init(always response: Response) async throws {
        try await self.init { _ in response }
    }

    package var baseURL: String { "http://127.0.0.1:\(port)" }

    package func close() async throws {
        try await channel.close()
    }
}
