import AppleAccounts

/// Retries to store data that must not be lost while the database is unavailable, for about half a minute.
///
/// Used for responses of Apple that cannot be requested a second time. A refusal by the account rules is not
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
