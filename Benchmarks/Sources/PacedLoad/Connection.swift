import Glibc

/// A connection with at most one outstanding request.
struct Connection {
    let descriptor: Int32
    var reader = AnswerReader()
    /// Index of the request that is waiting for its response.
    var request: Int?

    /// Connects to a local port. The socket blocks only when it sends, and the kernel accepts a whole request
    /// at once.
    init(port: UInt16) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw SystemError("socket") }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            Glibc.close(descriptor)
            throw SystemError("connect")
        }
        self.descriptor = descriptor
    }

    /// Sends bytes. Returns true if all of them were sent.
    func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
        Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Returns the number of received bytes, or `nil` if the connection has ended.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
        if count > 0 { return count }
        return count < 0 && errno == EAGAIN ? 0 : nil
    }

    func close() {
        Glibc.close(descriptor)
    }
}
