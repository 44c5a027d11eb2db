/// Counts what a connection receives that the decoder makes nothing of yet: header fields that are not complete, empty
/// lines, white space, chunk sizes and chunk extensions.
///
/// The decoder bounds names and values. It skips white space and chunk extensions without a word, and keeps a field in
/// memory until it ends, so that a client could send megabytes of either. The count is up to one read behind.
struct UnparsedBytes {
    private let mostInHead: Int
    private let mostInBody: Int
    private var count = 0
    private var isInBody = false

    init(limits: ServerLimits) {
        // The decoder's bound is on names and values; line ends and colons come on top.
        mostInHead = limits.headerBytes + 4 * limits.headerFields + 1024
        mostInBody = limits.framingBytes
    }

    /// Called with each read, before the decoder has it. Returns why the request must be refused, if it must.
    mutating func received(_ byteCount: Int) -> ProblemCode? {
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
