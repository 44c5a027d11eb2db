package import Hummingbird
import Logging
import Synchronization

/// Runs a server on a free port of 127.0.0.1 for a test.
package enum LoopbackServer {
    /// Stops the server when `body` returns.
    ///
    /// - Parameter make: Makes the server for its port.
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
