import HTTPTypes
import Hummingbird
import ScriptedHTTP
import Synchronization

/// A site whose callback redirects the browser, for example to an app.
final class RedirectingSite: Sendable {
    let callback: String
    private let target: String
    private let calls = Mutex<[HTTPRequest.Method]>([])

    /// The methods of the requests for the callback.
    var called: [HTTPRequest.Method] { calls.withLock { $0 } }

    private init(port: Int, target: String) {
        (callback, self.target) = ("http://127.0.0.1:\(port)/callback", target)
    }

    /// - Parameter target: Target of the callback's 303.
    static func run(
        redirectingTo target: String, _ body: @Sendable (RedirectingSite) async throws -> Void
    ) async throws {
        try await LoopbackServer.run(
            make: { RedirectingSite(port: $0, target: target) }, respond: { $0.respond(to: $1) }, body)
    }

    private func respond(to request: Request) -> Response {
        guard request.uri.path == "/callback" else { return Response(status: .notFound) }
        calls.withLock { $0.append(request.method) }
        return Response(status: .seeOther, headers: [.location: target])
    }
}
