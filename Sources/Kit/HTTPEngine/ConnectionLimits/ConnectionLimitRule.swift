import Encodings
import NIOCore

/// Decides which connection is closed when the number of connections is near its limit.
///
/// Keeps some places unused, so that the service accepts a new client at once: the connection that was idle
/// longest closes. An address at its limit loses one of its own connections. Does no I/O and reads no clock.
struct ConnectionLimitRule {
    struct Bounds: Sendable {
        var connections: Int
        /// Number of connections of one address.
        var perAddress: Int
        var idleTime: TimeAmount
        var leastIdleTime: TimeAmount

        init(_ limits: ServerLimits) {
            connections = limits.connections
            perAddress = max(1, limits.connections * limits.addressShare / 100)
            idleTime = limits.idleTime
            leastIdleTime = min(limits.leastIdleTime, limits.idleTime)
        }

        /// Returns the largest number of connections of a network. Wide networks may have
        /// more, at most three quarters of all connections.
        func most(of network: CountedNetwork) -> Int {
            max(perAddress, min(perAddress * network.share, connections * 3 / 4))
        }

        /// Number of connections above which each new connection closes another. The places above
        /// it are for connections that arrive meanwhile.
        var crowded: Int { connections - max(1, connections / 16) }
    }

    enum Verdict: Equatable {
        case fine
        /// The longest idle connection of the service closes.
        case makeRoom
        /// The longest idle connection of this network closes, or the new connection when none is idle.
        case replace(CountedNetwork)
    }

    let bounds: Bounds
    private(set) var count = 0
    /// The largest number of connections since memory was last trimmed.
    private var peak = 0
    private var byNetwork: [CountedNetwork: Int] = [:]

    init(_ bounds: Bounds) {
        self.bounds = bounds
    }

    /// - Parameter address: `nil` for an address without a limit.
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

    /// - Returns: True if so many connections have closed that freed memory can be returned.
    mutating func closed(from address: ClientAddress?) -> Bool {
        count -= 1
        for network in address?.networks ?? [] {
            // Every network in the table has a connection.
            if let own = byNetwork[network] { byNetwork[network] = own > 1 ? own - 1 : nil }
        }
        guard peak >= Self.smallestCrowd, count <= peak / 2 else { return false }
        peak = count
        return true
    }

    private static let smallestCrowd = 128

    /// Time for which a connection may be idle: the usual time while half of the places are
    /// unused, and the least time when few are unused.
    var idleTime: TimeAmount {
        let (half, full) = (bounds.connections / 2, bounds.crowded)
        guard count > half else { return bounds.idleTime }
        guard count < full else { return bounds.leastIdleTime }
        let span = bounds.idleTime.nanoseconds - bounds.leastIdleTime.nanoseconds
        return bounds.idleTime - .nanoseconds(span / Int64(full - half) * Int64(count - half))
    }
}

/// The reason for which the service closes a usable connection: to make room for others.
package enum EarlyCloseReason: Sendable, CaseIterable {
    /// The longest idle connection of the service, because the number of connections is near its limit.
    case crowded
    /// The longest idle connection of an address at its limit.
    case addressShare
    /// A new connection of an address at its limit, because no other connection of the address was idle.
    case refused
}
