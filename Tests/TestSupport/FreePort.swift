/// A port of this machine on which there was no listener a moment ago, for addresses that must be known
/// before the server starts.
public enum FreePort {
    /// Below the ports that systems give out by themselves: no other connection takes one of these before the
    /// server does, also not one of another test process.
    private static let ports = 12_000..<32_000

    public static func find() throws -> Int {
        for _ in 0..<100 {
            if let socket = try? LocalSocket(port: .random(in: ports)) { return socket.port }
        }
        return try LocalSocket().port
    }
}
