import AppleIDClient
import Composition
import Synchronization

/// Makes one call to Apple for each of many items: concurrently, at a limited rate, and with retries. The
/// calls must be safe to repeat.
struct AppleCallBatch<Item: Sendable, Response: Sendable>: Sendable {
    let perSecond: Int
    let clock: any Clock<Duration>
    let ask: @Sendable (Item) async throws(AppleCallError) -> Response

    /// The number of concurrent calls.
    private static var width: Int { 8 }

    /// Makes the call for every item, and passes each result to `each` in any order. Stops at an error that
    /// would be the same for all items, and returns that error.
    func run(
        _ items: [Item], each: (Item, Result<Response, AppleCallError>) throws -> Void
    ) async throws -> AppleCallError? {
        let policy = SharedPolicy()
        return try await withThrowingTaskGroup(of: (Item, Result<Response, AppleCallError>, Bool).self) {
            group in
            var waiting = items[...]
            var stop: AppleCallError?
            var running = 0
            while stop == nil || running > 0 {
                while stop == nil, running < Self.width, let item = waiting.popFirst() {
                    group.addTask {
                        let (result, isEnd) = try await question(item, policy: policy)
                        return (item, result, isEnd)
                    }
                    running += 1
                    // The rate limit determines the minimum time between two calls.
                    try await clock.sleep(for: .seconds(1) / perSecond)
                }
                guard let (item, result, isEnd) = try await group.next() else { break }
                running -= 1
                if isEnd, case .failure(let error) = result {
                    stop = error
                } else {
                    try each(item, result)
                }
            }
            return stop
        }
    }

    private func question(_ item: Item, policy: SharedPolicy) async throws -> (
        Result<Response, AppleCallError>, Bool
    ) {
        var attempt = 1
        while true {
            let failure: AppleCallError
            do throws(AppleCallError) {
                let response = try await ask(item)
                policy.state.withLock { $0.succeeded() }
                return (.success(response), false)
            } catch {
                failure = error
            }
            try Task.checkCancellation()
            switch policy.state.withLock({ $0.decide(on: failure, attempt: attempt) }) {
            case .retry(let pause): try await clock.sleep(for: pause)
            case .fail: return (.failure(failure), false)
            case .stop: return (.failure(failure), true)
            }
            attempt += 1
        }
    }
}

/// The retry state that all concurrent calls share.
private final class SharedPolicy: Sendable {
    let state = Mutex(RetryPolicy())
}

/// Decides how to react when one of many calls to Apple fails. Makes no call itself.
struct RetryPolicy: Equatable {
    enum Decision: Equatable {
        case retry(after: Duration)
        /// Abandons this call; other calls continue.
        case fail
        /// Stops the run, because all calls would fail with this error.
        case stop
    }

    /// The number of attempts for one call.
    static let tries = 4
    /// Number of consecutive calls without a response after which Apple is considered unreachable.
    static let patience = 10

    private var unanswered = 0

    mutating func succeeded() { unanswered = 0 }

    /// - Parameter attempt: Number of this attempt, counted from 1.
    mutating func decide(on error: AppleCallError, attempt: Int) -> Decision {
        if error.isOfConfiguration { return .stop }
        if error.isFinal {
            unanswered = 0
            return .fail
        }
        guard attempt >= Self.tries else {
            let pause = Duration.seconds(1 << (attempt - 1))
            return .retry(after: min(max(pause, error.retryAfter ?? .zero), .seconds(60)))
        }
        unanswered += 1
        return unanswered >= Self.patience ? .stop : .fail
    }
}
