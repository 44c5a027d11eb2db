package import Hummingbird
import Logging
package import NIOCore
import NIOPosix
import Synchronization

/// A server on a real socket that can send any bytes, even those that no server library would send.
package final class ScriptedServer: Sendable {
    package enum Response: Sendable {
        case send(String)
        /// Sends the text, and then closes the connection.
        case sendAndClose(String)
        /// Sends the text, and then this chunk again and again until the client closes the connection.
        case sendForever(String, chunk: String, pause: TimeAmount)
        /// Resets the connection.
        case reset
        case nothing
    }

    package let port: Int
    private let channel: any Channel
    private let record: ScriptedServerRecord

    /// The request heads received so far.
    package var requests: [String] { record.requests.withLock { $0 } }
    /// The number of currently open connections.
    package var openConnections: Int { record.connections.withLock { $0 } }

    /// Starts the server. `response` receives the number of each request, beginning with 1.
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

    package convenience init(always response: Response) async throws { try await self.init { _ in response } }

    package var baseURL: String { "http://127.0.0.1:\(port)" }

    package func close() async throws { try await channel.close() }
}

extension ScriptedServer.Response {
    package static func json(_ text: String, status: Int = 200, headers: String = "")
        -> ScriptedServer.Response
    {
        .send(
            "HTTP/1.1 \(status) X\r\nContent-Type: application/json\r\n\(headers)Content-Length: "
                + "\(text.utf8.count)\r\n\r\n\(text)")
    }

    package static func refusal(_ word: String, status: Int = 400) -> ScriptedServer.Response {
        .json(#"{"error":"\#(word)"}"#, status: status)
    }

    package static let token = json(
        """
        {"access_token":"a.t","token_type":"Bearer","expires_in":3600,"refresh_token":"r.t","id_token":"i.t.s"}
        """)
    package static let emptyOK = send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
}

/// A scripted server's record, shared by all its connections.
final class ScriptedServerRecord: Sendable {
    let requests = Mutex<[String]>([])
    let connections = Mutex(0)
    let response: @Sendable (Int) -> ScriptedServer.Response

    init(response: @escaping @Sendable (Int) -> ScriptedServer.Response) { self.response = response }
}

/// Runs a server on a free port of 127.0.0.1 for a test.
package enum LoopbackServer {
    /// Stops the server when `body` returns.
    ///
    /// - Parameter make: Creates the server for the port.
    package static func run<Server: Sendable, Result: Sendable>(
        make: @Sendable (_ port: Int) throws -> Server,
        respond: @escaping @Sendable (Server, Request) async throws -> Response,
        _ body: @Sendable (Server) async throws -> Result
    ) async throws -> Result {
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let running = Mutex<Server?>(nil)
        let application = Application(
            responder: CallbackResponder { (request, _: BasicRequestContext) in
                guard let server = running.withLock({ $0 }) else { return Response(status: .notFound) }
                return try await respond(server, request)
            },
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await application.run()
            }
            defer { group.cancelAll() }
            for await port in ports {
                let server = try make(port)
                running.withLock { $0 = server }
                return try await body(server)
            }
            try await group.waitForAll()
            throw CancellationError()
        }
    }
}
