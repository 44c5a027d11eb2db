#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A port of this machine on which this process listens during the lifetime of the value.
final class TakenPort: Sendable {
    struct NotTaken: Error {}

    let number: Int
    private let descriptor: Int32

    init() throws {
        #if canImport(Darwin)
            let socket = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, size) == 0 && getsockname(socket, pointer, &size) == 0
            }
        }
        (number, descriptor) = (Int(UInt16(bigEndian: address.sin_port)), socket)
        guard isBound, listen(socket, 1) == 0 else { throw NotTaken() }
    }

    deinit { close(descriptor) }
}
