import AppleAccounts
import Synchronization

/// Deletes rows of the audit log that are past their time.
///
/// A clock that is years ahead must not empty the log. So time is Apple's where this machine is ahead of it. Until Apple
/// has answered, rows are deleted only as fast as time passes: a day of rows in a day of uptime.
final class AuditRetention: Sendable {
    private struct Beginning {
        let oldest: Moment
        let uptime: Duration
    }

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

    /// Returns the time of the oldest row of the first purge, and the uptime since then on top; `nil` without rows.
    private func slowEnd() async throws -> Moment? {
        let uptime = uptime()
        let anchor = try await store.auditChain().anchor.sequence
        guard let oldest = try await store.auditRows(after: anchor, limit: 1).first?.facts.moment else {
            return nil
        }
        let first = beginning.withLock { beginning in
            let first = beginning ?? Beginning(oldest: oldest, uptime: uptime)
            beginning = first
            return first
        }
        return first.oldest.advanced(byMilliseconds: (uptime - first.uptime).components.seconds * 1000)
    }
}
