import Synchronization

/// A port of this machine that had no listener a moment ago, for addresses that must be known before the
/// server starts.
public enum FreePort {
    /// Ports below the range of the system, so that no other connection takes the port before the server
    /// does, also in another test process.
    private static let ports = 12_000..<32_000
    /// The ports of servers that may be stopped now, and start again.
    private static let given = Mutex<Set<Int>>([])

    /// Returns each port once.
    public static func find() throws -> Int {
        for _ in 0..<100 {
            guard let socket = try? LocalSocket(port: .random(in: ports)) else { continue }
            let port = socket.port
            if given.withLock({ $0.insert(port).inserted }) { return port }
        }
        return try LocalSocket().port
    }
}

/// A port that refuses every connection. It stays in use, so that no server of another test gets it.
public final class ClosedPort: Sendable {
    private let socket: LocalSocket

    public var port: Int { socket.port }

    public init() throws { socket = try LocalSocket() }
}
