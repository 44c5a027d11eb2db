/// Counts received bytes from which the decoder has made nothing yet: incomplete header fields, empty lines,
/// white space, chunk sizes and chunk extensions.
///
/// The decoder bounds names and values. But it skips white space and chunk extensions, and keeps an
/// incomplete field in memory, so that a client could send megabytes of such bytes. The count is up to one
/// read behind.
struct UnparsedBytes {
    private let mostInHead: Int
    private let mostInBody: Int
    private var count = 0
    private var isInBody = false

    init(limits: ServerLimits) {
        // The decoder bounds names and values. Line ends and colons are added here.
        mostInHead = limits.headerBytes + 4 * limits.headerFields + 1024
        mostInBody = limits.framingBytes
    }

    /// Counts the bytes of a read, before the decoder gets them. Returns the reason for which the request
    /// must be refused, or `nil`.
    mutating func received(_ byteCount: Int) -> RequestRefusal? {
        guard count <= (isInBody ? mostInBody : mostInHead) else {
            return isInBody ? .bodyTooLarge : .headerTooLarge
        }
        count += byteCount
        return nil
    }

    mutating func parsedHead() { (count, isInBody) = (0, true) }

    mutating func parsedBody(_ byteCount: Int) { count = max(0, count - byteCount) }

    mutating func parsedEnd() { (count, isInBody) = (0, false) }
}
