import Synchronization

/// Takes down, for the log, which OAuth client a request is of. A route learns this only when it has read the
/// request, and says it here also when it then throws an error.
final class ObservedClient: Sendable {
    private struct State {
        var name: String?
        var caller: String?
        var isProven = false
    }

    private let state = Mutex(State())

    /// The ID of a configured client. What a request says and no client has is never logged.
    var name: String? { state.withLock { $0.name } }

    /// The name of an API key that the route itself has checked.
    var caller: String? { state.withLock { $0.caller } }

    /// Whether a secret has proved who asks. Without one anybody can name a client, so that such requests have
    /// no line each.
    var isProven: Bool { state.withLock { $0.isProven } }

    func isNamed(_ name: String) { state.withLock { $0.name = name } }

    func isProven(by caller: String?) {
        state.withLock { ($0.caller, $0.isProven) = (caller, true) }
    }
}
