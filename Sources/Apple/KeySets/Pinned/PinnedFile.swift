#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads a file up to a limit, so that a path to a device cannot exhaust the memory.
enum PinnedFile {
    static func content(of path: String, atMost limit: Int) throws(PinnedKeySetError) -> [UInt8] {
        // Opening a pipe without a writer would block forever.
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw PinnedKeySetError(.unreadable, detail: "errno \(errno)") }
        defer { close(descriptor) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: limit)
        while content.count < limit {
            let count = next(descriptor, into: &buffer)
            guard count >= 0 else { throw PinnedKeySetError(.unreadable, detail: "errno \(errno)") }
            if count == 0 { break }
            content += buffer.prefix(min(count, limit - content.count))
        }
        return content
    }

    private static func next(_ descriptor: Int32, into buffer: inout [UInt8]) -> Int {
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            // A signal that interrupts the read is not a failure.
            guard count < 0, errno == EINTR else { return count }
        }
    }
}
