import Synchronization

/// The last requests of the process, for the console. Without a console it does not exist.
///
/// Refused requests of proven callers, their other requests, and requests that nothing proves have a ring each, so
/// that neither a busy caller nor a flood from outside pushes out what an operator looks for.
public final class RecentRequests: Sendable {
    /// Requests in each ring.
    package static let refusedBound = 500
    package static let acceptedBound = 500
    package static let unknownBound = 250
    /// Bytes of bodies in development. The oldest bodies are dropped above it.
    package static let exchangeBound = 8 * 1024 * 1024

    private struct State {
        var refused = Ring<RecentRequest>(bound: refusedBound)
        var accepted = Ring<RecentRequest>(bound: acceptedBound)
        var unknown = Ring<RecentRequest>(bound: unknownBound)
        var count = 0
        var exchangeBytes = 0

        mutating func append(_ entry: RecentRequest) {
            exchangeBytes += entry.exchange?.size ?? 0
            let gone =
                if !entry.isProven {
                    unknown.append(entry)
                } else if entry.isRefused {
                    refused.append(entry)
                } else {
                    accepted.append(entry)
                }
            exchangeBytes -= gone?.exchange?.size ?? 0
            while exchangeBytes > exchangeBound {
                // Accepted requests first: they are the most, and the least asked for.
                var freed = accepted.dropOldestExchange()
                if freed == 0 { freed = unknown.dropOldestExchange() }
                if freed == 0 { freed = refused.dropOldestExchange() }
                guard freed > 0 else { return }
                exchangeBytes -= freed
            }
        }
    }

    /// True in development: bodies are kept.
    package let keepsExchanges: Bool
    private let state = Mutex(State())

    private let appended: (@Sendable () -> Void)?

    /// - Parameter appended: Called after each request, on its event loop.
    public init(keepsExchanges: Bool, whenAppended appended: (@Sendable () -> Void)? = nil) {
        (self.keepsExchanges, self.appended) = (keepsExchanges, appended)
    }

    /// - Parameter make: Makes the entry with its number.
    func append(_ make: (_ number: Int) -> RecentRequest) {
        state.withLock { state in
            state.count += 1
            state.append(make(state.count))
        }
        appended?()
    }

    /// All requests, the last one first.
    package var all: [RecentRequest] {
        let entries = state.withLock { $0.refused.entries + $0.accepted.entries + $0.unknown.entries }
        return entries.sorted { $0.number > $1.number }
    }

    /// The requests with this ID, the last one first: a client may use its ID again.
    package func requests(withID id: String) -> [RecentRequest] {
        let entries = state.withLock { state in
            [state.refused, state.accepted, state.unknown].flatMap { ring in
                ring.entries.filter { $0.requestID == id }
            }
        }
        return entries.sorted { $0.number > $1.number }
    }

    /// Number of requests so far.
    package var count: Int { state.withLock { $0.count } }
}

extension Ring<RecentRequest> {
    /// Removes the exchange of the oldest entry that has one, and returns its size.
    fileprivate mutating func dropOldestExchange() -> Int {
        var size = 0
        changeOldest { request in
            guard let exchange = request.exchange else { return false }
            size = exchange.size
            request.exchange = nil
            return true
        }
        return size
    }
}
