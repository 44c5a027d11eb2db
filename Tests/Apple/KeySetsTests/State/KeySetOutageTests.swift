import KeySets
import Testing

@Suite struct KeySetOutageTests {
    private let start = DrivenKeySet.start

    @Test(arguments: KeySetFetchError.Code.allCases)
    func `no failure replaces a good set`(code: KeySetFetchError.Code) throws {
        let state = try DrivenKeySet.holding(["A"])
        let moment = start + hour
        #expect(try state.refresh(.failed(code), at: moment) == .wakeWaiters)
        #expect(state.lookUp("A", at: moment) == .use)
        let health = state.health(at: moment)
        #expect(health.isReady)
        #expect(health.status == .stale(code))
        #expect(health.keyCount == 1)
        #expect(health.fetches.failed == [code: 1])
        #expect(health.lastFailure == code)
        #expect(health.lastFailureAt == moment)
        #expect(health.lastSuccessAt == start)
    }

    @Test func `warns as soon as a refresh fails, also while the set is fresh`() throws {
        let state = try DrivenKeySet.holding(["A"])
        try state.refresh(.failed(.html), at: start + 54 * minute)
        #expect(state.health(at: start + 54 * minute).status == .stale(.html))
    }

    @Test func `is usable for 7 days after the last confirmation, then unavailable`() throws {
        let state = try DrivenKeySet.holding(["A"])
        try state.refresh(.failed(.unreachable), at: start + hour)
        let end = start + 7 * day
        #expect(state.has("A", at: end - 1))
        #expect(state.health(at: end - 1).isReady)
        #expect(!state.has("A", at: end))
        let health = state.health(at: end)
        #expect(health.status == .unavailable(.unreachable))
        #expect(!health.isReady)
        #expect(health.keyCount == 0)
        #expect(health.usableUntil == end)
        #expect(state.refusal(at: end).code == .keysUnavailable)
    }

    @Test func `recovers after the 7 days`() throws {
        let state = try DrivenKeySet.holding(["A"])
        try state.refresh(.failed(.unreachable), at: start + 8 * day)
        #expect(!state.has("A", at: start + 8 * day))
        let fetch = try state.causedFetch("B", at: start + 8 * day)
        state.finish(fetch, with: try .set(["B"]), at: start + 8 * day)
        #expect(state.has("B", at: start + 8 * day))
        #expect(state.health(at: start + 8 * day).status == .ready)
    }

    @Test func `a confirmation starts the 7 days again`() throws {
        let state = try DrivenKeySet.holding(["A"], entityTag: #""1""#)
        try state.refresh(.confirmed(.absent), at: start + 6 * day)
        #expect(state.has("A", at: start + 13 * day - 1))
        #expect(!state.has("A", at: start + 13 * day))
    }

    @Test func `backs off from 30 seconds to 5 minutes while there is a usable set`() throws {
        let state = try DrivenKeySet.holding(["A"])
        var now = start + hour
        var pauses: [Int64] = []
        for _ in 0..<40 {
            try state.refresh(.failed(.timedOut), at: now)
            let next = state.nextFetch(after: now)
            pauses.append((next - now) / second)
            now = next
        }
        #expect(pauses.prefix(5) == [30, 60, 120, 240, 300])
        #expect(pauses.dropFirst(5).allSatisfy { $0 == 300 })
    }

    @Test func `backs off from one second while there is no usable set`() throws {
        let state = DrivenKeySet()
        var now = start
        var pauses: [Int64] = []
        for _ in 0..<12 {
            try state.refresh(.failed(.unreachable), at: now)
            let next = state.nextFetch(after: now)
            pauses.append((next - now) / second)
            now = next
        }
        #expect(pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300])
    }

    @Test func `spreads retries by a quarter`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let now = start + hour
        try state.refresh(.failed(.timedOut), at: now, jitter: 1000)
        #expect(state.nextFetch(after: now) == now + 37 * second + 500)
    }

    @Test func `resets the back-off after a success`() throws {
        let state = try DrivenKeySet.holding(["A"])
        var now = start + hour
        for _ in 0..<5 {
            try state.refresh(.failed(.timedOut), at: now)
            now = state.nextFetch(after: now)
        }
        try state.refresh(.set(["A"]), at: now)
        #expect(state.health(at: now).status == .ready)
        #expect(state.health(at: now).lastFailure == .timedOut)
        let later = now + hour
        try state.refresh(.failed(.timedOut), at: later)
        #expect(state.nextFetch(after: later) == later + 30 * second)
    }

    @Test func `a flood during an outage does not make the loop fetch earlier`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("x", at: start + minute)
        state.finish(fetch, with: .failed(.unreachable), at: start + minute)
        #expect(state.nextFetch(after: start + minute) == start + 54 * minute)
    }

    @Test func `waits for the retry delay when a look-up failed just before a refresh`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let now = start + 54 * minute - 1
        let fetch = try state.causedFetch("x", at: now)
        state.finish(fetch, with: .failed(.unreachable), at: now)
        #expect(state.nextFetch(after: now) == now + 30 * second)
    }

    @Test func `is unavailable without a cause before the first response`() {
        let health = DrivenKeySet().health(at: start)
        #expect(health.status == .unavailable(nil))
        #expect(health.keyCount == 0)
        #expect(health.age == nil)
    }

    @Test func `counts fetches by result`() throws {
        let state = try DrivenKeySet.holding(["A"], entityTag: #""1""#)
        try state.refresh(.failed(.html), at: start + hour)
        try state.refresh(.failed(.html), at: start + 2 * hour)
        try state.refresh(.failed(.timedOut), at: start + 3 * hour)
        try state.refresh(.confirmed(.absent), at: start + 4 * hour)
        try state.refresh(.set(["B"]), at: start + 5 * hour)
        let fetches = state.health(at: start + 5 * hour).fetches
        #expect(fetches.replaced == 2)
        #expect(fetches.confirmed == 1)
        #expect(fetches.failed == [.html: 2, .timedOut: 1])
    }
}
