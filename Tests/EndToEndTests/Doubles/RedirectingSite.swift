import HTTPTypes
import Hummingbird
import Logging
import Synchronization
import TestSupport

/// A site whose callback redirects the browser, for example to an app.
final class RedirectingSite: Sendable {
    private let port = Mutex(0)
    private let calls = Mutex<[HTTPRequest.Method]>([])

    /// The methods of the requests for the callback.
    var called: [HTTPRequest.Method] { calls.withLock { $0 } }

    var callback: String { "http://127.0.0.1:\(port.withLock { $0 })/callback" }

    private init() {}

    /// - Parameter target: where the callback's 303 leads to.
    static func run(
        redirectingTo target: String, _ body: @Sendable (RedirectingSite) async throws -> Void
    ) async throws {
        let site = RedirectingSite()
        let router = Router()
        for method in [HTTPRequest.Method.get, .post] {
            router.on("callback", method: method) { _, _ in
                site.calls.withLock { $0.append(method) }
                return Response(status: .seeOther, headers: [.location: target])
            }
        }
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) },
            logger: .silent)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            defer { group.cancelAll() }
            for await port in ports {
                site.port.withLock { $0 = port }
                break
            }
            try await body(site)
        }
    }
}
