import HTTPAPI
public import HTTPEngine
public import Logging
import NIOCore
import NIOHTTP1
public import ServiceLifecycle

/// Serves the console on its own port, for operators in production.
public final class ConsoleServer: Service {
    /// Maximum number of open connections.
    static let mostConnections = 256

    private let server: HTTPServer

    /// - Parameter limits: The API server's limits, but with fewer connections.
    public init(
        _ site: ConsoleSite, host: String, port: Int, limits: ServerLimits, logger: Logger,
        now: @escaping @Sendable () -> Int64
    ) {
        var (limits, logger) = (limits, logger)
        // Both servers log a line when they listen. This value marks the console's line.
        logger[metadataKey: "server"] = "console"
        limits.connections = min(limits.connections, Self.mostConnections)
        server = HTTPServer(
            host: host, port: port, limits: limits, logger: logger, now: now,
            interface: { _ in ConsoleInterface(site) }, noteEarlyClose: { _ in })
    }

    public func boundPort() async throws -> Int { try await server.boundPort() }

    /// Throws `ListenError` if it cannot listen.
    public func run() async throws { try await server.run() }
}

/// The console as the only interface on a port.
final class ConsoleInterface: HTTPInterface {
    private let site: ConsoleSite

    init(_ site: ConsoleSite) { self.site = site }

    func handle(
        _ request: IncomingRequest, from client: ClientAddress?, gate: AdmissionGate
    ) -> (exchange: any HTTPExchange, source: ResponseSource) {
        guard let target = RequestTarget(request.head.uri) else {
            let (exchange, response) = refuse(.malformed, of: request)
            return (exchange, .response(response))
        }
        guard site.serves(target) else {
            let visit = ConsoleVisit(site: site, incoming: request, target: target, address: nil)
            let reply = site.message(
                "Not found", "This port has the console alone, and not the interface.", status: .notFound,
                back: (ConsoleSite.root, "To the console"))
            return visit.answer(reply, route: "none", isLogged: false)
        }
        return site.handle(request, target, from: client)
    }

    func refuse(
        _ refusal: RequestRefusal, of request: IncomingRequest?
    ) -> (exchange: any HTTPExchange, response: HTTPResponse) {
        let requestID = RequestID.make()
        let status: HTTPResponseStatus =
            switch refusal {
            case .malformed: .badRequest
            case .bodyTooLarge: .payloadTooLarge
            case .headerTooLarge: .requestHeaderFieldsTooLarge
            case .timedOut: .requestTimeout
            case .overloaded: .serviceUnavailable
            }
        let reply = site.message(
            "Refused", "The request is incomplete, too large or too slow.", status: status)
        let exchange = ConsoleExchange(
            requestID: requestID, method: "none", route: "none", startedAt: request?.startedAt ?? .now(),
            omitsBody: false, isLogged: false, site: site)
        return (exchange, reply.response)
    }

    func submitGathered() {}
    func connectionOpened() {}
    func connectionClosed() {}
    func requestFinishedLate() {}
}
