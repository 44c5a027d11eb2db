import Synchronization

/// The last requests of the process, for the console. Without a console it does not exist.
///
/// Refused requests of known callers, their other requests, and requests of unknown callers have a ring each, so
/// that neither a busy caller nor a flood from outside pushes out what an operator looks for.
public final class RecentRequests: Sendable {
    /// Requests in each ring.
    package static let refusedBound = 500
    package static let acceptedBound = 500
    package static let unknownBound = 250
    /// Bytes of bodies in development. The oldest bodies are dropped above it.
    package static let exchangeBound = 8 * 1024 * 1024

    private struct Ring {
        let bound: Int
        var entries: [RecentRequest] = []
        /// Index of the oldest entry of a full ring.
        var oldest = 0

        /// Returns the entry that had to go.
        mutating func append(_ entry: RecentRequest) -> RecentRequest? {
            guard entries.count == bound else {
                entries.append(entry)
                return nil
            }
            let gone = entries[oldest]
            entries[oldest] = entry
            oldest = (oldest + 1) % bound
            return gone
        }

        /// Removes the exchange of the oldest entry that has one, and returns its size.
        mutating func dropOldestExchange() -> Int {
            for index in entries.indices {
                let position = (oldest + index) % entries.count
                guard let exchange = entries[position].exchange else { continue }
                entries[position].exchange = nil
                return exchange.size
            }
            return 0
        }
    }

    private struct State {
        var refused = Ring(bound: refusedBound)
        var accepted = Ring(bound: acceptedBound)
        var unknown = Ring(bound: unknownBound)
        var count = 0
        var exchangeBytes = 0

        mutating func append(_ entry: RecentRequest) {
            exchangeBytes += entry.exchange?.size ?? 0
            let gone =
                if !entry.isKnown {
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
