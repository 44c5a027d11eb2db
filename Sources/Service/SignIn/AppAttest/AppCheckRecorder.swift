public import AppAttestation
public import AppleAccounts
public import Logging
public import ServiceLifecycle

/// Stores the counts of App Check every 15 seconds, and what is left at the end.
///
/// What cannot be stored stays in memory, within the bound of `AppCheckCounts`. A transaction whose connection
/// is lost during the commit may have been stored, and is stored again: the counts are for an operator's
/// decision, and a count too many is better than a lost one.
public struct AppCheckRecorder: Service {
    private let counts: AppCheckCounts
    private let store: any AppCheckHourStore
    private let interval: Duration
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Moment
    private let log: ThrottledLog

    /// - Parameter clock: The clock of the pauses.
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
