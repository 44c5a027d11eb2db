import Synchronization

/// Stores one snapshot of the last good set, so that a restart during an outage of Apple works, and so that
/// processes with a common store share one fetch.
///
/// It is read at the start and before each fetch, never during a request whose key is cached. The wait for it
/// is limited, and a failure of either call is only counted in `KeySetHealth`.
public protocol KeySetSnapshotStore: Sendable {
    /// Returns the saved snapshot; `nil` when there is none.
    func load() async throws -> KeySetSnapshot?
    /// Replaces the saved snapshot.
    func save(_ snapshot: KeySetSnapshot) async throws
}

/// The last good set as received, for storage. It is checked again when it is restored.
public struct KeySetSnapshot: Sendable, Equatable {
    /// The JSON Web Key Set, byte for byte.
    public let body: [UInt8]
    public let entityTag: String?
    /// Time at which Apple last sent or confirmed the set, in milliseconds since 1970.
    public let fetchedAt: Int64
    /// In milliseconds since 1970.
    public let freshUntil: Int64

    public init(body: [UInt8], entityTag: String?, fetchedAt: Int64, freshUntil: Int64) {
        self.body = body
        self.entityTag = entityTag
        self.fetchedAt = fetchedAt
        self.freshUntil = freshUntil
    }
}

/// Loads the snapshot before a fetch, with a time limit, so that a store that fails or hangs does not prevent
/// the fetch from Apple.
final class SnapshotReader: Sendable {
    private let store: any KeySetSnapshotStore
    private let clock: any KeySetClock
    private let timeLimit: Int64
    private let running = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter timeLimit: Time limit in milliseconds.
    init(store: any KeySetSnapshotStore, clock: any KeySetClock, timeLimit: Int64) {
        (self.store, self.clock, self.timeLimit) = (store, clock, timeLimit)
    }

    /// Returns the stored snapshot; `nil` also when the store fails or takes too long.
    func snapshot(onFailure: @escaping @Sendable () -> Void) async -> KeySetSnapshot? {
        let (results, result) = AsyncStream.makeStream(of: KeySetSnapshot?.self)
        let isStarted = running.withLock { running in
            // A load that ignores cancellation continues, and no second load starts beside it.
            guard running == nil else { return false }
            // An unstructured task, so that the caller need not wait for its end.
            running = Task {
                let stored: KeySetSnapshot?
                do { stored = try await store.load() } catch {
                    onFailure()
                    stored = nil
                }
                self.running.withLock { $0 = nil }
                result.yield(stored)
                result.finish()
            }
            return true
        }
        guard isStarted else { return nil }
        let limit = clock.millisecondsSince1970.addingSaturating(timeLimit)
        let bound = Task {
            try? await clock.sleep(untilMilliseconds: limit)
            result.finish()
        }
        defer { bound.cancel() }
        let stored = await results.first { _ in true } ?? nil
        running.withLock { $0 }?.cancel()
        return stored
    }

    /// Cancels a running load and waits for its end.
    func end() async {
        guard let task = running.withLock({ $0 }) else { return }
        task.cancel()
        await task.value
    }
}
