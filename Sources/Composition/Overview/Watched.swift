import Synchronization

/// A value that is read in the background, so that a slow database does not delay the value's readers. Only
/// one read runs at a time.
final class Watched<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var begunAt: ContinuousClock.Instant?
        /// The time of the last read.
        var readAt: ContinuousClock.Instant?
        var isReading = false
    }

    private let interval: Duration
    private let read: @Sendable () async throws -> Value
    private let state = Mutex(State())

    /// - Parameter interval: Minimum time between the starts of two reads.
    init(every interval: Duration, _ read: @escaping @Sendable () async throws -> Value) {
        (self.interval, self.read) = (interval, read)
    }

    /// The last read value; `nil` before the first read. Starts a read if it is due.
    var latest: Value? {
        let (value, begins) = state.withLock { state -> (Value?, Bool) in
            let now = ContinuousClock.now
            let isDue = state.begunAt.map { now - $0 >= interval } ?? true
            guard isDue, !state.isReading else { return (state.value, false) }
            (state.isReading, state.begunAt) = (true, now)
            return (state.value, true)
        }
        // The task is unstructured, because no reader waits for it. The stores have their own time limits.
        if begins {
            Task {
                let value = try? await read()
                state.withLock { state in
                    state.isReading = false
                    if let value { (state.value, state.readAt) = (value, .now) }
                }
            }
        }
        return value
    }

    /// Returns the last read value; `nil` if it is older than `age`. Starts a read if it is due.
    func latest(within age: Duration) -> Value? {
        let value = latest
        let readAt = state.withLock { $0.readAt }
        return readAt.map { ContinuousClock.now - $0 <= age } == true ? value : nil
    }
}
