import AppleAccounts

/// Failure of the last attempt to write, and its logging. Does no I/O and reads no clock.
///
/// On a disk that is nearly full some transactions fit and others do not, many times a second.
struct WriteTrouble: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Line: Equatable {
        case isFailing(StorageError)
        case isOver
    }

    /// Shortest time between two log lines about failures.
    static var interval: Duration { .seconds(10) }

    private(set) var failure: StorageError?
    private var isSaidToFail = false
    private var saidAt: Instant?

    mutating func failed(_ error: StorageError, at now: Instant) -> Line? {
        failure = error
        return line(at: now)
    }

    /// - Parameter hasRoom: Returns true if the disk has room again; called only after the disk was full.
    mutating func succeeded(at now: Instant, hasRoom: () -> Bool) -> Line? {
        guard let failure else { return line(at: now) }
        // A few pages may still fit where the log has left some, although the next sign-in does not.
        if failure.code == .full, !hasRoom() { return line(at: now) }
        self.failure = nil
        return line(at: now)
    }

    /// Returns the line to log now. Call it also while nothing is written.
    mutating func line(at now: Instant) -> Line? {
        guard (failure != nil) != isSaidToFail else { return nil }
        guard let failure else {
            isSaidToFail = false
            return .isOver
        }
        if let saidAt, now - saidAt < Self.interval { return nil }
        (isSaidToFail, saidAt) = (true, now)
        return .isFailing(failure)
    }
}
