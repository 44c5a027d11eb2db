import AppleAccounts

/// Stores what must not be lost, also when the database is away for a moment: tries again for about half a
/// minute, and then gives up.
///
/// For an answer of Apple's that cannot be had a second time. A refusal by the rules ends it at once.
struct Persistence: Sendable {
    static let attempts = 8

    let clock: any Clock<Duration>
    private let backoff = Backoff(first: .milliseconds(250), longest: .seconds(8))

    init(clock: any Clock<Duration>) {
        self.clock = clock
    }

    func store<Result: Sendable>(_ operation: @Sendable () async throws -> Result) async throws -> Result {
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
