import HTTPAPI
import Logging
import ServiceLifecycle

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The service manager that started this process (sd_notify(3)). It passed a socket to the process and
/// expects a datagram for each change of state.
struct ServiceManager: Sendable {
    /// The largest path that fits into the address of a socket, with its end.
    private static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private let path: [UInt8]

    /// Returns `nil` without `NOTIFY_SOCKET`, and for a value that is not an address of a local socket.
    init?(environment: [String: String]) {
        guard let text = environment["NOTIFY_SOCKET"] else { return nil }
        var path = Array(text.utf8)
        guard (2...Self.longestPath).contains(path.count) else { return nil }
        switch path[0] {
        case UInt8(ascii: "/"): break
        // An abstract name (unix(7)), which is not in the file system, begins with a zero byte.
        case UInt8(ascii: "@"): path[0] = 0
        default: return nil
        }
        self.path = path
    }

    /// Sends one state, like `READY=1`.
    ///
    /// - Returns: True if the datagram was sent.
    func tell(_ state: String) -> Bool {
        #if canImport(Darwin)
            let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #endif
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        // Abstract names have an exact length: further zero bytes would be part of the name.
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? MemoryLayout<sa_family_t>.size
        let size = socklen_t(offset + path.count)
        let bytes = Array(state.utf8)
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                sendto(descriptor, bytes, bytes.count, 0, pointer, size)
            }
        }
        return sent == bytes.count
    }
}

/// Notifies the service manager when the service listens, and when its shutdown begins.
struct ServiceManagerNotices: Service {
    let manager: ServiceManager
    let http: HTTPService
    let logger: Logger

    func run() async throws {
        // A service that cannot listen ends with an error, which the service manager sees.
        if (try? await http.boundPort()) != nil { tell("READY=1\nSTATUS=serving") }
        try? await gracefulShutdown()
        tell("STOPPING=1\nSTATUS=finishing requests")
    }

    private func tell(_ state: String) {
        // Under Type=notify, systemd waits for `READY=1` and ends the process if it does not arrive.
        if !manager.tell(state) { logger.warning("the service manager could not be told") }
    }
}
