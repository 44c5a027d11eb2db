#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A TCP socket in this process, bound to 127.0.0.1. Its descriptor is closed when the value ends.
struct LocalSocket: ~Copyable {
    struct NotBound: Error {
        let code: Int32
    }

    let descriptor: Int32
    let port: Int

    /// - Parameter wanted: The port; 0 for any free port.
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

/// Listens on its own port, where the kernel accepts connections, and never responds.
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

    /// Number of clients that have connected since this property was last read.
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

/// The socket of a service manager, at a path that the test chooses or, on Linux, with an abstract name.
public final class NotifySocket: Sendable {
    public struct NotBound: Error {
        let code: Int32
    }

    private let descriptor: Int32

    /// - Parameter address: The value for `NOTIFY_SOCKET`: a path, or a name after "@".
    public init(_ address: String) throws {
        #if canImport(Darwin)
            descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
            descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #endif
        var bytes = Array(address.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let isBound = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, size) == 0 }
        }
        guard isBound else {
            let code = errno
            close(descriptor)
            throw NotBound(code: code)
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    /// Returns the next message. Returns `nil` if none has arrived.
    public func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 512)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}
