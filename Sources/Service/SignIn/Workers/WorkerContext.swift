package import AppleAccounts
package import Logging

/// The dependencies of every worker besides its work: signal, clocks, log and counters.
package struct WorkerContext<WorkResult: CountedResult>: Sendable {
    /// Wakes the worker when there is work.
    package let signal: WakeupSignal
    /// The clock of pauses and retries.
    package let clock: any Clock<Duration>
    package let now: @Sendable () -> Moment
    package let log: ThrottledLog
    package let counters: ResultCounters<WorkResult>

    package init<W: Worker>(
        for worker: W.Type, signals: WorkerSignals, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) where W.WorkResult == WorkResult {
        signal = signals[worker]
        self.clock = clock
        self.now = now
        log = ThrottledLog(logger)
        counters = ResultCounters(worker.traits.counter, help: worker.traits.help)
    }
}
