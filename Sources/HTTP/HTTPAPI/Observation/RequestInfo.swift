import NIOCore
import NIOHTTP1

/// Facts about a request that the log and the metrics record.
struct RequestInfo: Sendable {
    /// `nil` when the request line could not be read.
    let method: HTTPMethod?
    /// `nil` when no endpoint matches the request.
    var endpoint: Endpoint?
    let requestID: String
    let startedAt: NIODeadline
    /// The name of the caller's API key.
    var caller: String?
    /// Set only in calls of OAuth.
    var client: ObservedClient?
    var errorFormat = ErrorFormat.problem
    /// `nil` without tracing, and for a request without a trace that is not recorded.
    var trace: RequestTrace?
    /// `nil` without a console.
    var notes: RequestNotes?
    /// True if the request was rejected because of overload.
    var isRejected = false

    init(method: HTTPMethod?, endpoint: Endpoint? = nil, requestID: String, startedAt: NIODeadline) {
        self.method = method
        self.endpoint = endpoint
        self.requestID = requestID
        self.startedAt = startedAt
    }

    var omitsBody: Bool { method == .HEAD }
}
