#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Thousands of clients that send and do not read, each with the smallest buffers, without a thread or a
/// task.
final class ClientCrowd {
    struct NoSocket: Error {
        let number: Int
        let code: Int32
    }

    private var sockets: [Int32] = []
    /// Number of bytes that each client has sent.
    private var sent: [Int] = []

    init() {
        // To send to a side that has closed must not end the tests.
        signal(SIGPIPE, SIG_IGN)
    }

    deinit { closeAll() }

    /// Connects this many further clients.
    func connect(_ count: Int, port: Int) throws {
        for _ in 0..<count {
            #if canImport(Darwin)
                let descriptor = socket(AF_INET, SOCK_STREAM, 0)
            #else
                let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #endif
            guard descriptor >= 0 else { throw NoSocket(number: sockets.count, code: errno) }
            sockets.append(descriptor)
            sent.append(0)
            var size: Int32 = 4096
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let status = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                    systemConnect(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard status == 0 else { throw NoSocket(number: sockets.count, code: errno) }
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) | O_NONBLOCK)
        }
    }

    /// Sends the remaining bytes of each client, as far as its socket accepts them. Returns the total number
    /// of bytes.
    func send(_ bytes: [UInt8]) -> Int {
        var total = 0
        for index in sockets.indices where sent[index] < bytes.count {
            let count = bytes[sent[index]...].withUnsafeBytes { rest in
                systemSend(sockets[index], rest.baseAddress, rest.count)
            }
            guard count > 0 else { continue }
            sent[index] += count
            total += count
        }
        return total
    }

    func closeAll() {
        for descriptor in sockets { close(descriptor) }
        (sockets, sent) = ([], [])
    }
}

private func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t)
    -> Int32
{
    connect(descriptor, address, size)
}

/// Calls the system's function, which the method of the same name hides in the class.
private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    send(descriptor, bytes, count, 0)
}
