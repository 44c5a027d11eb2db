import Synchronization

/// Stores a snapshot of the last good set, so that the key set survives a restart while Apple is down, and
/// processes that share a store share their fetches.
///
/// The key set loads the snapshot at startup and before each fetch, but never during a request whose key is
/// cached. It waits only for a limited time, and counts failures of both calls in `KeySetHealth`.
public protocol KeySetSnapshotStore: Sendable {
    /// Returns the saved snapshot, or `nil` if there is none.
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
    /// Time until which the set is fresh, in milliseconds since 1970.
    public let freshUntil: Int64

    public init(body: [UInt8], entityTag: String?, fetchedAt: Int64, freshUntil: Int64) {
        self.body = body
        self.entityTag = entityTag
        self.fetchedAt = fetchedAt
        self.freshUntil = freshUntil
    }
}

/// Loads the snapshot before a fetch, with a time limit, so that a
/// failing or hanging store does not prevent the fetch from Apple.
final class SnapshotReader: Sendable {
    private let store: any KeySetSnapshotStore
    private let clock: any KeySetClock
    private let timeLimit: Int64
    private let running = Mutex<Task<Void, Never>?>(nil)

    /// - Parameter timeLimit: Time limit in milliseconds.
    init(store: any KeySetSnapshotStore, clock: any KeySetClock, timeLimit: Int64) {
        (self.store, self.clock, self.timeLimit) = (store, clock, timeLimit)
    }

    /// Returns the stored snapshot; `nil` also if the store fails or takes too long.
    func snapshot(onFailure: @escaping @Sendable () -> Void) async -> KeySetSnapshot? {
        let (results, result) = AsyncStream.makeStream(of: KeySetSnapshot?.self)
        let isStarted = running.withLock { running in
            // A load that ignores cancellation keeps running, so no second load starts.
            guard running == nil else { return false }
            // The task is unstructured, so that the caller need not wait for the load to end.
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

    /// Cancels a running load and waits until it ends.
    func end() async {
        guard let task = running.withLock({ $0 }) else { return }
        task.cancel()
        await task.value
    }
}
