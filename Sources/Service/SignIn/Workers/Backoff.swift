import AppleAccounts

/// Exponential backoff: the delay doubles from the first delay to the longest delay. A random addition of up
/// to a quarter prevents calls that failed together from being retried together.
package struct Backoff: Sendable, Hashable {
    /// Delay after the first attempt, in milliseconds.
    package let first: Int64
    /// Maximum delay in milliseconds, not counting the random addition.
    package let longest: Int64

    package init(first: Duration, longest: Duration) {
        self.first = max(first.wholeMilliseconds, 1)
        self.longest = max(longest.wholeMilliseconds, self.first)
    }

    /// Returns the delay in milliseconds after a number of attempts, counted from 1.
    package func delay(after attempts: Int, using generator: inout some RandomNumberGenerator) -> Int64 {
        let shift = min(max(attempts, 1), 41) - 1
        // Without this comparison, the doubling could overflow.
        let base = first > longest >> Int64(shift) ? longest : first << Int64(shift)
        return base + Int64.random(in: 0...base / 4, using: &generator)
    }

    package func delay(after attempts: Int) -> Int64 {
        var generator = SystemRandomNumberGenerator()
        return delay(after: attempts, using: &generator)
    }
}

extension Duration {
    /// The duration in whole milliseconds, rounded down, and limited to about 290 million years.
    package var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let bounded = min(max(seconds, -9_000_000_000_000_000), 9_000_000_000_000_000)
        return bounded * 1000 + attoseconds / 1_000_000_000_000_000
    }
}

/// Keeps retrying a write for about half a minute, because its data must not be lost while the database is
/// unavailable.
///
/// Used for responses from Apple that cannot be requested again. A refusal by the account rules is not
/// retried.
struct StorageRetry: Sendable {
    static let attempts = 8

    let clock: any Clock<Duration>
    private let backoff = Backoff(first: .milliseconds(250), longest: .seconds(8))

    init(clock: any Clock<Duration>) {
        self.clock = clock
    }

    func run<Result: Sendable>(_ operation: @Sendable () async throws -> Result) async throws -> Result {
        var attempt = 1
        while true {
            do {
                return try await operation()
            } catch let refusal as AccountRefusal {
                throw refusal
            } catch {
                guard attempt < Self.attempts else { throw error }
                try await clock.sleep(for: .milliseconds(backoff.delay(after: attempt)))
                attempt += 1
            }
        }
    }
}
