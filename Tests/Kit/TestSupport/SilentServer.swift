#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Listens on a port of its own, lets the kernel accept connections, and never responds.
public final class SilentServer: Sendable {
    public struct NotListening: Error {}

    private let socket: LocalSocket

    public var port: Int { socket.port }

    public init() throws {
        let socket = try LocalSocket()
        guard listen(socket.descriptor, 64) == 0 else { throw NotListening() }
        _ = fcntl(socket.descriptor, F_SETFL, O_NONBLOCK)
        self.socket = socket
    }

    /// Number of clients that have connected since the last read of this property.
    public var accepted: Int {
        var count = 0
        while true {
            let connection = accept(socket.descriptor, nil, nil)
            guard connection >= 0 else { return count }
            close(connection)
            count += 1
        }
    }
}
