import AppleAccounts
import Synchronization

/// Deletes rows of the audit log that are past their time.
///
/// A clock that is years ahead must not empty the log. So time is Apple's where this machine is ahead of it. Until
/// Apple has answered, rows are deleted only as fast as time passes: a day of rows in a day of uptime, and none while
/// it is in doubt which rows are the oldest.
final class AuditRetention: Sendable {
    private struct Beginning {
        let oldest: Moment
        let uptime: Duration
    }

    /// Milliseconds by which rows may be in another order than their times. The clocks of replicas differ.
    private static let largestDisorder: Int64 = 86_400_000

    private let store: any AuditStore
    /// In milliseconds.
    private let keptFor: Int64
    private let secondsAhead: @Sendable () -> Int64?
    private let uptime: @Sendable () -> Duration
    private let now: @Sendable () -> Moment
    private let beginning = Mutex<Beginning?>(nil)

    init(
        store: any AuditStore, keptFor: Int64, secondsAhead: @escaping @Sendable () -> Int64?,
        clock: any Clock<Duration>, now: @escaping @Sendable () -> Moment
    ) {
        (self.store, self.keptFor, self.secondsAhead, self.now) = (store, keptFor, secondsAhead, now)
        uptime = Self.stopwatch(clock)
    }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// Deletes a day at once: each step leaves a row that tells of it, and the log would not get smaller by single
    /// rows.
    func purge() async throws {
        let now: Moment
        var end: Moment
        if let secondsAhead = secondsAhead() {
            now = self.now().advanced(byMilliseconds: -max(0, secondsAhead) * 1000)
            end = now.advanced(byMilliseconds: -keptFor)
        } else {
            now = self.now()
            guard let bound = try await slowEnd() else { return }
            end = min(now.advanced(byMilliseconds: -keptFor), bound)
        }
        end = end.startOfDay
        while try await store.purgeAudit(before: end, at: now) > 0, !Task.isCancelled {}
    }

    /// Returns the time of the oldest row at the first purge, and the uptime since then on top; `nil` without rows, and
    /// in doubt.
    private func slowEnd() async throws -> Moment? {
        let uptime = uptime()
        guard let first = try await beginning(at: uptime) else { return nil }
        // More rows than were looked at can come from a wrong clock. By their time, all others would be old.
        let before = first.oldest.advanced(byMilliseconds: -Self.largestDisorder)
        guard try await store.auditSequence(at: before) == 0 else { return nil }
        return first.oldest.advanced(byMilliseconds: (uptime - first.uptime).components.seconds * 1000)
    }

    private func beginning(at uptime: Duration) async throws -> Beginning? {
        if let known = beginning.withLock({ $0 }) { return known }
        let anchor = try await store.auditChain().anchor.sequence
        // The first row of all can come from a wrong clock.
        let rows = try await store.auditRows(after: anchor, limit: AuditPurge.largestStep)
        guard let oldest = rows.map(\.facts.moment).min() else { return nil }
        let first = Beginning(oldest: oldest, uptime: uptime)
        beginning.withLock { $0 = first }
        return first
    }
}
