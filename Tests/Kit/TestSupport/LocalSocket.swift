#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A TCP socket of this process, bound to 127.0.0.1. The descriptor is closed with the value.
struct LocalSocket: ~Copyable {
    struct NotBound: Error {
        let code: Int32
    }

    let descriptor: Int32
    let port: Int

    /// - Parameter wanted: Port; 0 for any free port.
    init(port wanted: Int = 0) throws(NotBound) {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard descriptor >= 0 else { throw NotBound(code: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(wanted).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 && getsockname(descriptor, pointer, &size) == 0
            }
        }
        guard isBound else {
            let code = errno
            close(descriptor)
            throw NotBound(code: code)
        }
        (self.descriptor, port) = (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    deinit { close(descriptor) }
}

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
