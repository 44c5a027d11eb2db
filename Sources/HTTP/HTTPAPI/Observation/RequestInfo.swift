import NIOCore
import NIOHTTP1
import Synchronization

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
    /// `nil` without tracing, and for an unrecorded request without a caller's trace.
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

/// Records the OAuth client of a request for the log. A route learns the client only after reading the
/// request, and records it here even if it then throws an error.
final class ObservedClient: Sendable {
    private struct State {
        var name: String?
        var caller: String?
        var isProven = false
        var refusal: Refusal?
    }

    /// Reason of a refused token request. Both members are words of this service.
    struct Refusal {
        let reason: String
        /// `nil` for an unknown grant type.
        let grantType: String?
    }

    private let state = Mutex(State())

    /// The ID of a configured client. An ID that belongs to no client is never logged.
    var name: String? { state.withLock { $0.name } }

    /// The name of an API key that the route itself has checked.
    var caller: String? { state.withLock { $0.caller } }

    /// True if a secret has proved the caller's identity. Without a secret any
    /// program can name a client, so such requests do not have a line each.
    var isProven: Bool { state.withLock { $0.isProven } }

    /// `nil` unless a token request was refused.
    var refusal: Refusal? { state.withLock { $0.refusal } }

    func isNamed(_ name: String) { state.withLock { $0.name = name } }

    func isProven(by caller: String?) {
        state.withLock { ($0.caller, $0.isProven) = (caller, true) }
    }

    func isRefused(_ reason: String, grantType: String?) {
        state.withLock { $0.refusal = Refusal(reason: reason, grantType: grantType) }
    }
}
