import AppleIDClient
import Synchronization

/// Asks Apple one harmless question for each of many items: several at once, at a bounded rate, each some times when no
/// answer comes.
struct AppleQuestions<Item: Sendable, Answer: Sendable>: Sendable {
    let perSecond: Int
    let clock: any Clock<Duration>
    let ask: @Sendable (Item) async throws(AppleCallError) -> Answer

    /// How many are under way at once.
    private static var width: Int { 8 }

    /// Asks for every item and hands over what became of it, in any order. Returns the error that would be the same for all
    /// others, after which none is asked.
    func run(
        _ items: [Item], each: (Item, Result<Answer, AppleCallError>) throws -> Void
    ) async throws -> AppleCallError? {
        let policy = SharedPolicy()
        return try await withThrowingTaskGroup(of: (Item, Result<Answer, AppleCallError>, Bool).self) {
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
                    // The pace: at least so much time from one to the next.
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
        Result<Answer, AppleCallError>, Bool
    ) {
        var attempt = 1
        while true {
            let failure: AppleCallError
            do throws(AppleCallError) {
                let answer = try await ask(item)
                policy.state.withLock { $0.succeeded() }
                return (.success(answer), false)
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

/// What the questions that are under way together have met.
private final class SharedPolicy: Sendable {
    let state = Mutex(AskingPolicy())
}
