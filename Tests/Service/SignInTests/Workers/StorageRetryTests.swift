import AppleAccounts
import Commits
import Synchronization
import TestSupport
import Testing

@testable import SignIn

@Suite struct StorageRetryTests {
    let clock = HurriedClock()

    private func store(failing failures: Int, with error: any Error) async throws -> Int {
        let calls = Mutex(0)
        try await StorageRetry(clock: clock).run {
            let call = calls.withLock { calls in
                calls += 1
                return calls
            }
            if call <= failures { throw error }
        }
        return calls.withLock { $0 }
    }

    @Test func `tries again until the database is back`() async throws {
        let error = StorageError(.unavailable, detail: "")
        #expect(try await store(failing: 0, with: error) == 1)
        #expect(clock.slept == .zero)
        #expect(try await store(failing: 7, with: error) == 8)
        #expect(clock.slept > .seconds(15))
        #expect(clock.slept < .seconds(40))
        #expect(try await store(failing: 2, with: OverloadedError()) == 3)
    }

    @Test func `gives up in the end`() async {
        await #expect(throws: StorageError(.busy, detail: "")) {
            try await store(failing: .max, with: StorageError(.busy, detail: ""))
        }
    }

    @Test func `does not argue with a refusal by the rules`() async {
        await #expect(throws: AccountRefusal(.accountNotFound)) {
            try await store(failing: .max, with: AccountRefusal(.accountNotFound))
        }
        #expect(clock.slept == .zero)
    }
}
