import NIOCore
import NIOHTTP1

/// What the log and the metrics record of a request.
struct RequestInfo: Sendable {
    /// `nil` when the request line could not be read.
    let method: HTTPMethod?
    /// `nil` when there is no such call.
    var endpoint: Endpoint?
    let requestID: String
    let startedAt: NIODeadline
    /// The name of the caller's API key.
    var caller: String?
    /// Only in calls of OAuth.
    var client: ObservedClient?
    var errorFormat = ErrorFormat.problem
    /// Because of overload.
    var isRejected = false

    init(method: HTTPMethod?, endpoint: Endpoint? = nil, requestID: String, startedAt: NIODeadline) {
        self.method = method
        self.endpoint = endpoint
        self.requestID = requestID
        self.startedAt = startedAt
    }

    var omitsBody: Bool { method == .HEAD }
}
