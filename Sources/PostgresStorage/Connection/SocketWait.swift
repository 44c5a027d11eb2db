import CLibPQ
import Foundation

/// Waits for a socket, never longer than until a moment.
///
/// libpq's own waiting has no end: a server that accepts and never answers, or a network that takes every
/// packet away, would hold the thread for ever. TCP keep-alive does not help against the first.
struct SocketWait {
    let deadline: ContinuousClock.Instant

    enum Outcome { case readable, writable, timedOut, failed }

    /// - Parameter writing: Whether to come back too when there is room to send.
    func wait(for descriptor: Int32, writing: Bool = false) -> Outcome {
        guard descriptor >= 0 else { return .failed }
        var entry = pollfd(
            fd: descriptor, events: Int16(POLLIN) | (writing ? Int16(POLLOUT) : 0), revents: 0)
        while true {
            let ready = poll(&entry, 1, milliseconds())
            if ready > 0 {
                // An error or the other side's end is to be read too.
                return entry.revents & ~Int16(POLLOUT) != 0 ? .readable : .writable
            }
            if ready == 0 {
                if ContinuousClock.now >= deadline { return .timedOut }
            } else if errno != EINTR {
                return .failed
            }
        }
    }

    /// Whether there is something to read at this moment.
    static func isReadable(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) != 0
    }

    /// What is left, rounded up, so that the last wait is not a busy one.
    private func milliseconds() -> Int32 {
        let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
        return Int32(min(max(left.rounded(.up), 0), 60_000))
    }
}
