import HTTPTypes
import Hummingbird
import Logging
import Synchronization

/// A site whose callback sends the browser on, to an app on the phone for example.
final class RedirectingSite: Sendable {
    let callback: String
    private let port: Int
    private let calls = Mutex<[HTTPRequest.Method]>([])

    /// The methods of the requests for the callback.
    var called: [HTTPRequest.Method] { calls.withLock { $0 } }

    private init(port: Int) {
        self.port = port
        callback = "http://127.0.0.1:\(port)/callback"
    }

    /// - Parameter target: where the callback's 303 leads to.
    static func run(
        redirectingTo target: String, _ body: @Sendable (RedirectingSite) async throws -> Void
    ) async throws {
        let site = RedirectingSite(port: FreePort.find())
        let router = Router()
        for method in [HTTPRequest.Method.get, .post] {
            router.on("callback", method: method) { _, _ in
                site.calls.withLock { $0.append(method) }
                return Response(status: .seeOther, headers: [.location: target])
            }
        }
        let (running, continuation) = AsyncStream<Void>.makeStream()
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: site.port)),
            onServerRunning: { _ in continuation.yield() },
            logger: Logger(label: "site") { _ in SwiftLogNoOpLogHandler() })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            defer { group.cancelAll() }
            for await _ in running { break }
            try await body(site)
        }
    }
}
