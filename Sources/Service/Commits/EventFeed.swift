package import AppleAccounts
import ServiceLifecycle
import Synchronization

/// Wakes readers that wait for account events. It stores only the last sequence number, not the events.
///
/// Commits in this process and announcements from other processes advance the number. A wait ends when the
/// number advances, when its task is cancelled, and when the service shuts down.
public final class EventFeed: Sendable {
    private struct State {
        var latest: Int64 = 0
        var nextWaiter = 0
        var waiters: [Int: Waiter] = [:]
        var isClosed = false
        var listeners: [@Sendable () -> Void] = []
    }

    private enum Waiter {
        case announced
        case waiting(after: Int64, CheckedContinuation<Void, Never>)
    }

    private let state = Mutex(State())
    private let mostWaiters: Int

    /// - Parameter mostWaiters: Maximum number of waiting readers. The feed refuses further readers, because
    ///   an immediate empty page would make them poll in a busy loop.
    public init(mostWaiters: Int = 1024) {
        self.mostWaiters = mostWaiters
    }

    /// The last known sequence number; 0 until the first commit or announcement.
    public var latest: Int64 { state.withLock { $0.latest } }

    /// Number of waiting readers.
    var waiterCount: Int {
        state.withLock { state in
            state.waiters.values.count { waiter in
                guard case .waiting = waiter else { return false }
                return true
            }
        }
    }

    /// Advances the number, and wakes the readers that were waiting for it to advance.
    public func advance(to sequence: Int64) {
        let listeners = state.withLock { $0.latest < sequence ? $0.listeners : [] }
        release { state in
            state.latest = max(state.latest, sequence)
            let latest = state.latest
            return state.waiters.compactMap { id, waiter in
                guard case .waiting(let after, _) = waiter, after < latest else { return nil }
                return id
            }
        }
        for listener in listeners { listener() }
    }

    /// Calls `listener` whenever the number advances. The listener runs on the thread that commits, so it
    /// must not block. Listeners stay registered for the feed's lifetime, and do not count as readers.
    public func whenAdvanced(_ listener: @escaping @Sendable () -> Void) {
        state.withLock { $0.listeners.append(listener) }
    }

    /// Wakes all readers. Later waits end immediately.
    public func close() {
        release { state in
            state.isClosed = true
            return Array(state.waiters.keys)
        }
    }

    /// Waits until the latest sequence number is greater than `sequence`, and returns it. Returns `nil` if
    /// the wait ends without a greater number.
    ///
    /// - Throws: `OverloadedError` if the maximum number of readers already waits.
    package func waitForMore(after sequence: Int64) async throws(OverloadedError) -> Int64? {
        let announced = try state.withLock { state throws(OverloadedError) -> Int? in
            guard !state.isClosed else { return nil }
            guard state.waiters.count < mostWaiters else { throw OverloadedError() }
            defer { state.nextWaiter += 1 }
            state.waiters[state.nextWaiter] = .announced
            return state.nextWaiter
        }
        guard let id = announced else { return nil }
        await withTaskCancellationOrGracefulShutdownHandler {
            await withCheckedContinuation { continuation in
                let mayGo = state.withLock { state in
                    // The task was cancelled before the wait began, or the number has already advanced.
                    guard state.waiters[id] != nil, state.latest <= sequence else { return true }
                    state.waiters[id] = .waiting(after: sequence, continuation)
                    return false
                }
                if mayGo { continuation.resume() }
            }
        } onCancelOrGracefulShutdown: {
            self.release { _ in [id] }
        }
        return state.withLock { state in
            state.waiters[id] = nil
            return !state.isClosed && state.latest > sequence ? state.latest : nil
        }
    }

    private func release(_ choose: (inout State) -> [Int]) {
        let continuations = state.withLock { state in
            choose(&state).compactMap { id -> CheckedContinuation<Void, Never>? in
                guard case .waiting(_, let continuation) = state.waiters.removeValue(forKey: id) else {
                    return nil
                }
                return continuation
            }
        }
        for continuation in continuations { continuation.resume() }
    }
}

/// Reads the event feed on behalf of a caller.
package struct EventReader: Sendable {
    let store: any AccountStore
    let feed: EventFeed
    let limit: Int
    let scope: AppScope

    package init(store: any AccountStore, feed: EventFeed, limit: Int, scope: AppScope) {
        (self.store, self.feed, self.limit, self.scope) = (store, feed, limit, scope)
    }

    /// Maximum number of scans for one page, so that a request does not take too long. The cursor advances
    /// even if the page is empty.
    private static let mostScans = 20

    /// Returns the next page that contains an event. Returns an empty page at the end of the feed, and after
    /// skipping too many events.
    package func page(after cursor: Int64) async throws -> EventPage {
        var page = EventPage(events: [], cursor: cursor, hasMore: true)
        for _ in 0..<Self.mostScans where page.events.isEmpty && page.hasMore {
            page = try await store.events(after: page.cursor, limit: limit, visibleTo: scope)
        }
        return page
    }

    /// Returns the next page. At the end of the feed, waits for an event, and returns an empty page after
    /// `time`.
    ///
    /// - Throws: `OverloadedError` if the maximum number of readers already waits; `StorageError`.
    package func page(after cursor: Int64, waiting time: Duration) async throws -> EventPage {
        try await withThrowingTaskGroup(of: EventPage?.self) { group in
            group.addTask {
                var page = EventPage(events: [], cursor: cursor, hasMore: false)
                var seen = cursor
                while page.events.isEmpty, !page.hasMore, let latest = try await feed.waitForMore(after: seen)
                {
                    page = try await self.page(after: page.cursor)
                    // A database that was restored from a backup or a lagging standby does not reach `latest`
                    // for a while. Until then the reader must not poll in a busy loop.
                    seen = max(page.cursor, latest)
                }
                return page
            }
            group.addTask {
                try? await Task.sleep(for: time)
                return nil
            }
            // The first result cancels the other task. The reader must always return a page, so that its
            // cursor is not lost.
            while let result = try await group.next() {
                group.cancelAll()
                if let page = result { return page }
            }
            return EventPage(events: [], cursor: cursor, hasMore: false)
        }
    }
}
