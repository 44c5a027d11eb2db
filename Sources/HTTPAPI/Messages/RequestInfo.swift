import NIOCore
import NIOHTTP1

/// A request on its way through the service: what the log and the metrics will say about it.
struct RequestInfo: Sendable {
    /// `nil` when the request line was never read.
    let method: HTTPMethod?
    /// `nil` when there is no such call.
    var route: Route?
    let requestID: String
    let startedAt: NIODeadline
    /// The name of the caller's API key.
    var caller: String?
    /// Because too many others wait.
    var isRejected = false

    init(method: HTTPMethod?, route: Route?, requestID: String, startedAt: NIODeadline) {
        self.method = method
        self.route = route
        self.requestID = requestID
        self.startedAt = startedAt
    }

    var omitsBody: Bool { method == .HEAD }
}
