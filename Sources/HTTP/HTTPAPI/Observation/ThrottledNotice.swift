import Logging
import Synchronization

/// Counts an event that would fill the log if every case were logged, and logs the number from time to time.
final class ThrottledNotice: Sendable {
    private let message: Logger.Message
    private let interval: Int64
    private let logger: Logger
    private let metadata: Logger.Metadata
    private let now: @Sendable () -> Int64
    private let saidAt = Atomic<Int64>(0)
    private let unsaid = Atomic<Int64>(0)

    /// `interval` and `now` are in milliseconds.
    init(
        _ message: Logger.Message, every interval: Int64, logger: Logger, metadata: Logger.Metadata = [:],
        now: @escaping @Sendable () -> Int64
    ) {
        self.metadata = metadata
        (self.message, self.interval, self.logger, self.now) = (message, interval, logger, now)
    }

    func count() {
        unsaid.wrappingAdd(1, ordering: .relaxed)
        let (now, said) = (now(), saidAt.load(ordering: .relaxed))
        // A clock that was set back must not silence the notice until it reaches the old time again.
        guard now < said || now - said >= interval,
            saidAt.compareExchange(expected: said, desired: now, ordering: .relaxed).exchanged
        else { return }
        let count = unsaid.exchange(0, ordering: .relaxed)
        logger.warning(message, metadata: metadata.merging(["count": "\(count)"]) { $1 })
    }
}
