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

/// The service manager that started this process (sd_notify(3)). It passes a socket address to the process,
/// and expects a datagram for each state change.
struct ServiceManager: Sendable {
    /// Maximum length of a path in a socket address, including its terminator.
    private static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private let path: [UInt8]

    /// Returns `nil` if `NOTIFY_SOCKET` is absent or is not a local socket's address.
    init?(environment: [String: String]) {
        guard let text = environment["NOTIFY_SOCKET"] else { return nil }
        var path = Array(text.utf8)
        guard (2...Self.longestPath).contains(path.count) else { return nil }
        switch path[0] {
        case UInt8(ascii: "/"): break
        // An abstract name (unix(7)), which does not exist in the file system, begins with a zero byte.
        case UInt8(ascii: "@"): path[0] = 0
        default: return nil
        }
        self.path = path
    }

    /// Sends a state, such as `READY=1`.
    ///
    /// - Returns: True if the system has accepted the datagram.
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
        // An abstract name's length must be exact, because additional zero bytes would be part of the name.
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

/// Notifies the service manager when the service starts listening, and when its shutdown begins.
struct ServiceManagerNotices: Service {
    let manager: ServiceManager
    let http: HTTPService
    let logger: Logger

    func run() async throws {
        // A service that cannot listen exits with an error, and the service manager detects that.
        if (try? await http.boundPort()) != nil { tell("READY=1\nSTATUS=serving") }
        try? await gracefulShutdown()
        tell("STOPPING=1\nSTATUS=finishing requests")
    }

    private func tell(_ state: String) {
        // With Type=notify, systemd waits for `READY=1` and terminates the process if the datagram does not
        // arrive.
        if !manager.tell(state) { logger.warning("the service manager could not be told") }
    }
}
