public import AppAttestation
public import AppleAccounts
public import Logging
public import ServiceLifecycle

/// Stores App Check counts every 15 seconds, and the remaining counts at shutdown.
///
/// Counts that cannot be stored stay in memory, within the bound of `AppCheckCounts`. If the connection is
/// lost during a commit, the counts may be stored twice. This is acceptable, because the counts only help an
/// operator to decide, and a duplicate count is better than a lost one.
public struct AppCheckRecorder: Service {
    private let counts: AppCheckCounts
    private let store: any AppCheckHourStore
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Moment
    private let log: ThrottledLog

    /// - Parameter clock: The clock that measures the interval.
    public init(
        counts: AppCheckCounts, store: any AppCheckHourStore, interval: Duration = .seconds(15),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        (self.counts, self.store, self.interval) = (counts, store, interval)
        (self.clock, self.now, log) = (clock, now, ThrottledLog(logger))
    }

    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await clock.sleep(for: interval)
                } catch {
                    return
                }
                await record()
            }
        }
        await record()
    }

    func record() async {
        let hours = counts.take()
        guard !hours.isEmpty else { return }
        do {
            try await store.addAppCheckHours(hours)
        } catch {
            counts.putBack(hours)
            log.tell("counts of App Check were not stored", about: error, at: now())
        }
    }
}
