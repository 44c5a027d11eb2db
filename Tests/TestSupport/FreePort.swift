/// A port of this machine that had no listener a moment ago, for addresses that must be known before the
/// server starts.
public enum FreePort {
    /// Ports below the range of the system, so that no other connection takes the port before the server
    /// does, also in another test process.
    private static let ports = 12_000..<32_000

    public static func find() throws -> Int {
        for _ in 0..<100 {
            if let socket = try? LocalSocket(port: .random(in: ports)) { return socket.port }
        }
        return try LocalSocket().port
    }
}
