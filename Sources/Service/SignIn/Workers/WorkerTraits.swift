package import Logging

/// The constants of a worker: one value, declared with it.
package struct WorkerTraits: Sendable {
    /// The largest number of pieces at once.
    package let width: Int
    /// The longest time between two looks into the database. Bounds the wait for work of which no signal
    /// came, such as the work of a stopped process.
    package let longestLook: Duration
    /// The pause after a claim that the database refused.
    package let failurePause: Duration
    /// Logged after such a claim.
    package let unclaimed: Logger.Message
    /// The counter of the results.
    package let counter: String
    /// The sentence about the counter for Prometheus.
    package let help: String

    package init(
        width: Int, longestLook: Duration, failurePause: Duration, unclaimed: Logger.Message,
        counter: String, help: String
    ) {
        self.width = width
        self.longestLook = longestLook
        self.failurePause = failurePause
        self.unclaimed = unclaimed
        self.counter = counter
        self.help = help
    }
}
