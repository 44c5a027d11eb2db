import Encodings
import NIOCore

/// Decides which connection to close when the number of connections approaches its limit.
///
/// The rule keeps some places free, so that the service can immediately accept a new client. To free a place,
/// it closes the connection that has been idle longest. If an address is at its limit, one of the address's
/// own connections closes. The rule does no I/O and reads no clock.
struct ConnectionLimitRule {
    struct Bounds: Sendable {
        var connections: Int
        /// Connection limit for one address.
        var perAddress: Int
        var idleTime: TimeAmount
        var leastIdleTime: TimeAmount

        init(_ limits: ServerLimits) {
            connections = limits.connections
            perAddress = max(1, limits.connections * limits.addressShare / 100)
            idleTime = limits.idleTime
            leastIdleTime = min(limits.leastIdleTime, limits.idleTime)
        }

        /// Returns the connection limit for a network. A wide network may have more connections than an
        /// address, up to three quarters of all connections.
        func most(of network: CountedNetwork) -> Int {
            max(perAddress, min(perAddress * network.share, connections * 3 / 4))
        }

        /// Number of connections above which each new connection closes an older connection. The places above
        /// this number are for connections that arrive before the older connection has closed.
        var crowded: Int { connections - max(1, connections / 16) }
    }

    enum Verdict: Equatable {
        case fine
        /// The service's longest-idle connection closes.
        case makeRoom
        /// This network's longest-idle connection closes, or the new connection if none is idle.
        case replace(CountedNetwork)
    }

    let bounds: Bounds
    private(set) var count = 0
    /// Largest number of connections since memory was last trimmed.
    private var peak = 0
    private var byNetwork: [CountedNetwork: Int] = [:]

    init(_ bounds: Bounds) {
        self.bounds = bounds
    }

    /// - Parameter address: The client's address; `nil` if no limit applies to it.
    mutating func opened(from address: ClientAddress?) -> Verdict {
        count += 1
        peak = max(peak, count)
        let networks = address?.networks ?? []
        for network in networks { byNetwork[network, default: 0] += 1 }
        if let full = networks.first(where: { byNetwork[$0, default: 0] > bounds.most(of: $0) }) {
            return .replace(full)
        }
        return count > bounds.crowded ? .makeRoom : .fine
    }

    /// - Returns: True if enough connections have closed for the service to return memory to the system.
    mutating func closed(from address: ClientAddress?) -> Bool {
        count -= 1
        for network in address?.networks ?? [] {
            // Every network in the table has at least one connection.
            if let own = byNetwork[network] { byNetwork[network] = own > 1 ? own - 1 : nil }
        }
        guard peak >= Self.smallestCrowd, count <= peak / 2 else { return false }
        peak = count
        return true
    }

    private static let smallestCrowd = 128

    /// Time that a connection may be idle: the usual time while half of the places are free, decreasing to
    /// the shortest time when few are free.
    var idleTime: TimeAmount {
        let (half, full) = (bounds.connections / 2, bounds.crowded)
        guard count > half else { return bounds.idleTime }
        guard count < full else { return bounds.leastIdleTime }
        let span = bounds.idleTime.nanoseconds - bounds.leastIdleTime.nanoseconds
        return bounds.idleTime - .nanoseconds(span / Int64(full - half) * Int64(count - half))
    }
}

/// Reason the service closes a usable connection to make room for another connection.
package enum EarlyCloseReason: Sendable, CaseIterable {
    /// The number of connections was near its limit, and this connection had been idle longest.
    case crowded
    /// The address was at its limit, and this was its longest-idle connection.
    case addressShare
    /// The address was at its limit, and none of its other connections was idle, so the new connection
    /// closed.
    case refused
}
