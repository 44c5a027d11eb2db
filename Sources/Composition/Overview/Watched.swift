import Synchronization

/// A value that is read in the background, so that a database that does not respond holds up no reader of the
/// value. One read runs at a time.
final class Watched<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var begunAt: ContinuousClock.Instant?
        /// Time at which the value was read.
        var readAt: ContinuousClock.Instant?
        var isReading = false
    }

    private let interval: Duration
    private let read: @Sendable () async throws -> Value
    private let state = Mutex(State())

    /// - Parameter interval: The time between the beginnings of two reads, at least.
    init(every interval: Duration, _ read: @escaping @Sendable () async throws -> Value) {
        (self.interval, self.read) = (interval, read)
    }

    /// The last value that could be read; `nil` before the first one. Begins a read when it is time.
    var latest: Value? {
        let (value, begins) = state.withLock { state -> (Value?, Bool) in
            let now = ContinuousClock.now
            let isDue = state.begunAt.map { now - $0 >= interval } ?? true
            guard isDue, !state.isReading else { return (state.value, false) }
            (state.isReading, state.begunAt) = (true, now)
            return (state.value, true)
        }
        // Unstructured, because no reader waits for it. The store has time limits of its own.
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

    /// The last value, or `nil` when it was read longer ago than `age`. Begins a read when it is time.
    func latest(within age: Duration) -> Value? {
        let value = latest
        let readAt = state.withLock { $0.readAt }
        return readAt.map { ContinuousClock.now - $0 <= age } == true ? value : nil
    }
}
