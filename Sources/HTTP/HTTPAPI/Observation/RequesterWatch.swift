import HTTPEngine
import OAuth
import Synchronization

/// Notices that every request of browsers and OAuth clients comes from one private address. Then a proxy that
/// nobody has named stands before the service: all clients count as one, so one guesser slows all of them down,
/// and their pages name the proxy as their origin.
///
/// Judges whole hours. An hour of one internal backend is no proxy's: it sends no page and no
/// `X-Forwarded-For`.
final class RequesterWatch: Sendable {
    /// Milliseconds.
    static let window: Int64 = 3_600_000
    /// Number of requests below which an hour says nothing.
    static let fewest = 10

    private struct State {
        var begunAt: Int64?
        var count = 0
        var address: ClientAddress?
        var isAlone = true
        var looksProxied = false
        /// The address of the last whole hour.
        var lone: ClientAddress?
    }

    private let state = Mutex(State())

    /// The address from which all requests of the last whole hour came; `nil` for an ordinary hour.
    var loneAddress: String? { state.withLock { $0.lone }?.requester.text }

    /// - Parameters:
    ///   - client: `nil` when the address is unknown, which only a named proxy causes.
    ///   - looksProxied: True for a request of a browser, or with `X-Forwarded-For`.
    ///   - now: Milliseconds.
    /// - Returns: The address, once at the end of the first such hour.
    func note(_ client: ClientAddress?, looksProxied: Bool, at now: Int64) -> String? {
        state.withLock { state in
            var found: String?
            // A clock that was set back begins a new hour.
            if let begunAt = state.begunAt, !(0..<Self.window).contains(now - begunAt) {
                let isLone = state.isAlone && state.looksProxied && state.count >= Self.fewest
                let last = state.lone
                state = State(lone: now >= begunAt && isLone ? state.address : nil)
                if last == nil { found = state.lone?.requester.text }
            }
            if state.begunAt == nil { (state.begunAt, state.address) = (now, client) }
            state.count += 1
            state.isAlone = state.isAlone && client == state.address && client?.isPrivate ?? false
            state.looksProxied = state.looksProxied || looksProxied
            return found
        }
    }
}
