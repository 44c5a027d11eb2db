public import HTTPEngine
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// Responds on the service's port while the service waits for its database. It responds to `/livez` with 200,
/// so that no supervisor restarts the process, and to all other requests with 503 `storage_unavailable`.
///
/// It authenticates no callers and reads no bodies. After `end`, the service itself listens on the port.
public final class WaitingService: Sendable {
    private let running = Mutex<Task<Void, Never>?>(nil)
    private let make: @Sendable () -> HTTPServer

    /// - Parameter now: Returns the current time in milliseconds since 1970.
    public init(
        host: String, port: Int, limits: ServerLimits, now: @escaping @Sendable () -> Int64
    ) {
        make = {
            // This logger is silent, because the service itself logs the listening message.
            let silent = Logger(label: "siwa") { _ in SwiftLogNoOpLogHandler() }
            return HTTPServer(
                host: host, port: port, limits: limits, logger: silent, now: now,
                interface: { _ in WaitingInterface() }, noteEarlyClose: { _ in })
        }
    }

    /// Starts listening. Does not report a port that is unavailable, because the service reports it later.
    public func begin() {
        running.withLock { running in
            guard running == nil else { return }
            let server = make()
            // The task ends when the start sequence calls `end`, which it always does.
            running = Task { try? await server.run() }
        }
    }

    /// Closes the port and all its connections. Returns when the port is closed.
    public func end() async {
        let task = running.withLock { running in
            defer { running = nil }
            return running
        }
        task?.cancel()
        await task?.value
    }
}

/// The interface that a service provides while it waits for its database.
private final class WaitingInterface: HTTPInterface {
    func handle(
        _ request: IncomingRequest, from client: ClientAddress?, gate: AdmissionGate
    ) -> (exchange: any HTTPExchange, source: ResponseSource) {
        let exchange = WaitingExchange(request)
        let path = request.head.uri.prefix { $0 != "?" }
        let isProbe = path == "/livez" && [.GET, .HEAD].contains(request.head.method)
        return (exchange, .response(isProbe ? OperationsRoutes.alive : exchange.unavailable))
    }

    func refuse(
        _ refusal: RequestRefusal, of request: IncomingRequest?
    ) -> (exchange: any HTTPExchange, response: HTTPResponse) {
        let exchange = WaitingExchange(request)
        return (exchange, .problem(Problem(refusal.problemCode), requestID: exchange.requestID))
    }

    func submitGathered() {}
    func connectionOpened() {}
    func connectionClosed() {}
    func requestFinishedLate() {}
}

private final class WaitingExchange: HTTPExchange {
    let requestID: String
    let sharedFields = APIVersion.field
    let omitsBody: Bool
    let longestWait = TimeAmount.zero
    let isLongPoll = false

    init(_ request: IncomingRequest?) {
        requestID = RequestID.accept(request?.fields.requestID) ?? RequestID.make()
        omitsBody = request?.head.method == .HEAD
    }

    var unavailable: HTTPResponse { .problem(Problem(.storageUnavailable), requestID: requestID) }

    func finish(_ response: HTTPResponse, at now: NIODeadline) -> HTTPResponse { response }
}
