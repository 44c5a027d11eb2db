import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Sends requests as fast as the service responds: on several connections, pipelined, from an address of this
/// machine.
enum RequestFlood {
    static let connections = 4
    /// Number of requests of a connection that wait for their responses.
    private static let window = 16

    /// - Parameters:
    ///   - address: Source address in 127.0.0.0/8. The service treats the addresses as different machines.
    ///   - request: The whole request for a number.
    /// - Returns: Number of responses by status.
    static func run(
        _ count: Int, port: Int, from address: String = "127.0.0.2",
        _ request: @escaping @Sendable (Int) -> String
    ) async throws -> [Int: Int] {
        try await withThrowingTaskGroup(of: [Int].self) { group in
            for lane in 0..<connections {
                let numbers = Array(stride(from: lane, to: count, by: connections))
                group.addTask {
                    // On a thread of its own, because it blocks.
                    try await withCheckedThrowingContinuation { continuation in
                        Thread.detachNewThread {
                            continuation.resume(
                                with: Result { try send(numbers, port: port, from: address, request) })
                        }
                    }
                }
            }
            return try await group.reduce(into: [:]) { statuses, found in
                for status in found { statuses[status, default: 0] += 1 }
            }
        }
    }

    private static func send(
        _ numbers: [Int], port: Int, from address: String, _ request: (Int) -> String
    ) throws -> [Int] {
        let connection = try FloodConnection(port: port, from: address)
        var statuses: [Int] = []
        var rest = numbers[...]
        while !rest.isEmpty {
            let next = rest.prefix(window)
            rest = rest.dropFirst(window)
            try connection.send(Array(next.map(request).joined().utf8))
            for _ in next { statuses.append(try connection.readStatus()) }
        }
        return statuses
    }

    /// Sends one request at a time, on a connection that is opened again after the service has closed it.
    final class Caller {
        private let port: Int
        private var connection: FloodConnection?

        init(port: Int) { self.port = port }

        /// - Returns: The status; 0 when the service closed the connection before it had the whole request.
        func status(of request: [UInt8]) throws -> Int {
            while true {
                let known = connection
                let connection = try known ?? FloodConnection(port: port, from: "127.0.0.2")
                self.connection = connection
                do {
                    try connection.send(request)
                    return try connection.readStatus()
                } catch is FloodConnection.Broken {
                    self.connection = nil
                    // The end of the connection can also be that of the request before.
                    if known == nil { return 0 }
                }
            }
        }
    }

    /// A request that posts a form to an endpoint.
    static func post(_ target: String, _ form: String, _ fields: [String] = []) -> String {
        let lines = ["Content-Type: application/x-www-form-urlencoded"] + fields
        return post(target, body: form, lines)
    }

    static func post(_ target: String, body: String, _ fields: [String]) -> String {
        "POST \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(body.utf8.count)\r\n"
            + fields.map { "\($0)\r\n" }.joined() + "\r\n\(body)"
    }

    static func get(_ target: String, _ fields: [String] = []) -> String {
        "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1\r\n" + fields.map { "\($0)\r\n" }.joined() + "\r\n"
    }
}

/// A connection whose calls block.
final class FloodConnection {
    struct Broken: Error, CustomStringConvertible { let description: String }

    private let descriptor: Int32
    private var unread: [UInt8] = []

    init(port: Int, from source: String) throws {
        descriptor = try ClientSocket.connected(to: port, from: source) { descriptor in
            // Nothing here waits for ever.
            var patience = timeval(tv_sec: 60, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                ClientSocket.send(descriptor, $0.baseAddress, $0.count)
            }
            guard count > 0 else { throw Broken(description: "not sent: \(errno)") }
            sent += count
        }
    }

    /// Reads one response to its end.
    func readStatus() throws -> Int {
        var head = find("\r\n\r\n")
        while head == nil {
            try readMore()
            head = find("\r\n\r\n")
        }
        let body = (head ?? 0) + 4
        let (status, length) = (number(after: "HTTP/1.1 "), number(after: "content-length: ") ?? 0)
        guard let status else { throw Broken(description: "no response") }
        while unread.count < body + length { try readMore() }
        unread.removeFirst(body + length)
        return status
    }

    /// Searches with a function of C, because the generic search is slow in a test build.
    private func find(_ text: StaticString) -> Int? {
        let count = text.utf8CodeUnitCount
        return unread.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return nil }
            var from = 0
            while from + count <= bytes.count,
                let hit = memchr(start + from, Int32(text.utf8Start.pointee), bytes.count - from)
            {
                let place = UnsafeRawPointer(hit) - start
                guard place + count <= bytes.count else { return nil }
                if memcmp(start + place, text.utf8Start, count) == 0 { return place }
                from = place + 1
            }
            return nil
        }
    }

    private func number(after text: StaticString) -> Int? {
        guard let start = find(text) else { return nil }
        let digits = unread[(start + text.utf8CodeUnitCount)...].prefix { (0x30...0x39).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    private func readMore() throws {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { throw Broken(description: "closed by the service, \(errno)") }
        unread += buffer[..<count]
    }
}

/// Sockets of clients, by the system's own calls.
private enum ClientSocket {
    /// - Parameters:
    ///   - source: Address in 127.0.0.0/8; `nil` for any.
    ///   - prepare: Sets options before the connection.
    static func connected(
        to port: Int, from source: String? = nil, _ prepare: (Int32) -> Void
    ) throws -> Int32 {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        prepare(descriptor)
        func isDone(_ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ text: String, _ port: Int)
            -> Bool
        {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = UInt16(port).bigEndian
            address.sin_addr.s_addr = inet_addr(text)
            return withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
        }
        guard source.map({ isDone(bind, $0, 0) }) ?? true, isDone(connect, "127.0.0.1", port) else {
            throw FloodConnection.Broken(description: "not connected from \(source ?? "any"): \(errno)")
        }
        return descriptor
    }

    static func send(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
            systemSend(descriptor, bytes, count, 0)
        #else
            // Without the signal that ends this process when the service has closed the connection.
            systemSend(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
        #endif
    }
}

/// Calls the system's function, which the method of the same name hides in the type.
private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int
{
    send(descriptor, bytes, count, flags)
}

/// Thousands of clients that send and do not read, each with the smallest buffers, without a thread or a
/// task.
final class ClientCrowd {
    private var sockets: [Int32] = []
    /// Number of bytes that each client has sent.
    private var sent: [Int] = []

    deinit { closeAll() }

    /// Connects this many further clients.
    func connect(_ count: Int, port: Int) throws {
        for _ in 0..<count {
            let descriptor = try ClientSocket.connected(to: port) { descriptor in
                var size: Int32 = 4096
                setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
            }
            sockets.append(descriptor)
            sent.append(0)
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) | O_NONBLOCK)
        }
    }

    /// Sends the remaining bytes of each client, as far as its socket accepts them. Returns the total number
    /// of bytes.
    func send(_ bytes: [UInt8]) -> Int {
        var total = 0
        for index in sockets.indices where sent[index] < bytes.count {
            let count = bytes[sent[index]...].withUnsafeBytes { rest in
                ClientSocket.send(sockets[index], rest.baseAddress, rest.count)
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
