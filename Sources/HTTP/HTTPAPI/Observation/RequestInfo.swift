import NIOCore
import NIOHTTP1
import Synchronization

/// Facts about a request, for the log and the metrics.
struct RequestInfo: Sendable {
    /// The request method; `nil` if the request line could not be read.
    let method: HTTPMethod?
    /// The matching endpoint; `nil` if no endpoint matches the request.
    var endpoint: Endpoint?
    let requestID: String
    let startedAt: NIODeadline
    /// The name of the caller's API key.
    var caller: String?
    /// The OAuth client that sent the request. Set only in OAuth calls.
    var client: ObservedClient?
    var errorFormat = ErrorFormat.problem
    /// The request's position in its trace. `nil` if tracing is off, and for an unrecorded request that
    /// continues no trace.
    var trace: RequestTrace?
    /// Facts for the console. `nil` if there is no console.
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

/// Records a request's OAuth client for the log. A route identifies the client only after it has read the
/// request, and records the client here even if it then throws an error.
final class ObservedClient: Sendable {
    private struct State {
        var name: String?
        var caller: String?
        var isProven = false
        var refusal: Refusal?
    }

    /// Reason and grant type of a refused token request. This service defines all possible values of both.
    struct Refusal {
        let reason: String
        /// The grant type; `nil` if it is unknown.
        let grantType: String?
    }

    private let state = Mutex(State())

    /// The ID of a configured client. The log never contains an unknown ID.
    var name: String? { state.withLock { $0.name } }

    /// The name of the API key, if the route itself has authenticated the key.
    var caller: String? { state.withLock { $0.caller } }

    /// True if a secret has authenticated the caller. Any program can name a client without presenting a
    /// secret, so such requests do not get individual log lines.
    var isProven: Bool { state.withLock { $0.isProven } }

    /// The refusal of a token request; `nil` for any other request.
    var refusal: Refusal? { state.withLock { $0.refusal } }

    func isNamed(_ name: String) { state.withLock { $0.name = name } }

    func isProven(by caller: String?) {
        state.withLock { ($0.caller, $0.isProven) = (caller, true) }
    }

    func isRefused(_ reason: String, grantType: String?) {
        state.withLock { $0.refusal = Refusal(reason: reason, grantType: grantType) }
    }
}
