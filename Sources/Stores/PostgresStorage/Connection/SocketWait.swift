import CLibPQ
import Foundation

/// Waits for a socket until a deadline at the latest.
///
/// libpq's own waits have no end: a server that accepts and never responds, or a network that drops every
/// packet, would block the thread for ever. TCP keep-alive does not help against such a server.
struct SocketWait {
    let deadline: ContinuousClock.Instant

    enum Outcome { case readable, writable, timedOut, failed }

    /// - Parameter writing: Also return when there is room to send.
    func wait(for descriptor: Int32, writing: Bool = false) -> Outcome {
        guard descriptor >= 0 else { return .failed }
        var entry = pollfd(
            fd: descriptor, events: Int16(POLLIN) | (writing ? Int16(POLLOUT) : 0), revents: 0)
        while true {
            let ready = poll(&entry, 1, milliseconds())
            if ready > 0 {
                // An error or the peer's end of stream must be read too.
                return entry.revents & ~Int16(POLLOUT) != 0 ? .readable : .writable
            }
            if ready == 0 {
                if ContinuousClock.now >= deadline { return .timedOut }
            } else if errno != EINTR {
                return .failed
            }
        }
    }

    /// Returns true if data can be read now.
    static func isReadable(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) != 0
    }

    /// Returns the remaining time, rounded up, so that the last wait is not a busy wait.
    private func milliseconds() -> Int32 {
        let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
        return Int32(min(max(left.rounded(.up), 0), 60_000))
    }
}
