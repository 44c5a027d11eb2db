import Synchronization

/// Looks into a snapshot store before a fetch. It never waits longer than a bound, so that a store that fails or hangs
/// keeps nobody from asking Apple.
final class SnapshotLook: Sendable {
    private let store: any KeySetSnapshotStore
    private let clock: any KeySetClock
    private let patience: Int64
    private let running = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter patience: In milliseconds.
    init(store: any KeySetSnapshotStore, clock: any KeySetClock, patience: Int64) {
        (self.store, self.clock, self.patience) = (store, clock, patience)
    }

    /// What is stored; `nil` also when that cannot be said in time.
    func snapshot(onFailure: @escaping @Sendable () -> Void) async -> KeySetSnapshot? {
        let (answers, answer) = AsyncStream.makeStream(of: KeySetSnapshot?.self)
        let isStarted = running.withLock { running in
            // One that hears no cancellation is left behind, and none is put beside it.
            guard running == nil else { return false }
            // A task of its own, so that nobody has to wait for its end.
            running = Task {
                let stored: KeySetSnapshot?
                do { stored = try await store.load() } catch {
                    onFailure()
                    stored = nil
                }
                self.running.withLock { $0 = nil }
                answer.yield(stored)
                answer.finish()
            }
            return true
        }
        guard isStarted else { return nil }
        let limit = clock.millisecondsSince1970.addingSaturating(patience)
        let bound = Task {
            try? await clock.sleep(untilMilliseconds: limit)
            answer.finish()
        }
        defer { bound.cancel() }
        let stored = await answers.first { _ in true } ?? nil
        running.withLock { $0 }?.cancel()
        return stored
    }

    /// Returns when nothing of it runs any more.
    func end() async {
        guard let task = running.withLock({ $0 }) else { return }
        task.cancel()
        await task.value
    }
}
