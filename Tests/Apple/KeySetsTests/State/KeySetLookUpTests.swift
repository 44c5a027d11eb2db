import KeySets
import Testing

@Suite struct KeySetLookUpTests {
    private let start = DrivenKeySet.start

    @Test func `uses a cached key`() throws {
        let state = try DrivenKeySet.holding()
        #expect(state.lookUp("A", at: start) == .use)
    }

    @Test func `finds keys by their bytes`() throws {
        let state = try DrivenKeySet.holding(["K"])
        #expect(state.has("K", at: start))
        #expect(!state.has("\u{212A}", at: start))
        #expect(!state.has("k", at: start))
    }

    @Test func `fetches when nothing is cached, and later callers join`() throws {
        let state = DrivenKeySet()
        let fetch = try state.causedFetch("A", at: start)
        #expect(state.lookUp("A", at: start + 1, waiters: 1) == .joinFetch(fetch.number))
        #expect(state.lookUp("B", at: start + 2, waiters: 2) == .joinFetch(fetch.number))
        #expect(state.nextRefresh(at: start + 3) == .joinFetch(fetch.number))
        #expect(state.isRunning(fetch.number))

        state.finish(fetch, with: try .set(["A"]), at: start + 4)
        #expect(!state.isRunning(fetch.number))
        #expect(state.has("A", at: start + 4))
        #expect(state.refusal(for: "B", at: start + 4).code == .unknownKey)
    }

    @Test func `does not wait for a fetch when the key is cached`() throws {
        let state = try DrivenKeySet.holding()
        _ = try state.causedFetch("new", at: start + second)
        #expect(state.lookUp("A", at: start + second, waiters: 1) == .use)
    }

    @Test func `finds a new key with one fetch`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("new", at: start + second)
        state.finish(fetch, with: try .set(["A", "new"]), at: start + 2 * second)
        #expect(state.lookUp("new", at: start + 2 * second) == .use)
    }

    @Test func `fetches for an unknown key without a condition`() throws {
        let state = try DrivenKeySet.holding(["A"], entityTag: #""1""#)
        #expect(try state.causedFetch("new", at: start + second).entityTag == nil)
    }

    @Test func `fetches for unknown keys once in 30 seconds`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("x", at: start)
        state.finish(fetch, with: try .set(["A"]), at: start + second)

        #expect(state.lookUp("x", at: start + second) == .refuse(KeySetError(.unknownKey)))
        #expect(state.lookUp("y", at: start + 30 * second - 1) == .refuse(KeySetError(.keysUnavailable)))
        _ = try state.causedFetch("z", at: start + 30 * second)
    }

    @Test(arguments: [true, false])
    func `a flood of invented keys causes one fetch in 30 seconds`(isAnswered: Bool) throws {
        let state = try DrivenKeySet.holding(["A", "B"])
        var caused: [Int64] = []
        var scheduled = 0
        // 10 000 invented keys within 100 seconds, with known ones in between, and a refresh loop.
        for number in 0..<10_000 {
            let now = start + Int64(number) * 10
            if case .startFetch = state.nextRefresh(at: now) { scheduled += 1 }
            switch state.lookUp("invented-\(number)", at: now) {
            case .startFetch(let fetch):
                caused.append(now - start)
                let outcome: KeySetFetchOutcome = isAnswered ? try .set(["A", "B"]) : .failed(.timedOut)
                state.finish(fetch, with: outcome, at: now)
            case .refuse: break
            case let action: Issue.record("\(action)")
            }
            #expect(state.lookUp(number.isMultiple(of: 2) ? "A" : "B", at: now) == .use)
        }
        #expect(caused == [0, 30 * second, 60 * second, 90 * second])
        #expect(scheduled == 0)
    }

    @Test func `a flood during a slow fetch joins it, within limits`() throws {
        let state = try DrivenKeySet.holding(bounds: KeySetBounds(mostWaiters: 3))
        let fetch = try state.causedFetch("x", at: start)
        #expect(state.lookUp("y", at: start, waiters: 2) == .joinFetch(fetch.number))
        #expect(state.lookUp("y", at: start, waiters: 3) == .refuse(KeySetError(.keysUnavailable)))
        #expect(state.lookUp("A", at: start, waiters: 3) == .use)
    }

    @Test func `a key that a fetch looked for and did not find is unknown until the next fetch`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("first", at: start)
        #expect(state.lookUp("joined", at: start, waiters: 1) == .joinFetch(fetch.number))
        state.finish(fetch, with: try .set(["A"]), at: start + second)
        for keyID in ["first", "joined"] {
            #expect(state.lookUp(keyID, at: start + second) == .refuse(KeySetError(.unknownKey)))
            #expect(state.lookUp(keyID, at: start + 30 * second - 1) == .refuse(KeySetError(.unknownKey)))
        }
        let next = try state.causedFetch("first", at: start + 30 * second)
        state.finish(next, with: .failed(.unreachable), at: start + 31 * second)
        #expect(state.refusal(for: "first", at: start + 31 * second).code == .keysUnavailable)
    }

    @Test func `a genuine new key in a flood of invented keys is 503 until the next fetch finds it`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("invented", at: start)
        state.finish(fetch, with: try .set(["A"]), at: start + second)
        // Apple adds the key after the fetch, and signs with it at once.
        let refusal = state.refusal(for: "new", issuedAt: start + 5 * second, at: start + 6 * second)
        #expect(refusal.code == .keysUnavailable)
        #expect(refusal.retryAfter == 24)
        let last = state.refusal(for: "new", issuedAt: start + 5 * second, at: start + 30 * second - 1)
        #expect(last.retryAfter == 1)
        let next = try state.causedFetch("new", at: start + 30 * second)
        state.finish(next, with: try .set(["A", "new"]), at: start + 30 * second)
        #expect(state.lookUp("new", at: start + 30 * second) == .use)
    }

    @Test(arguments: [(-second, true), (0, true), (second, false)] as [(Int64, Bool)])
    func `a token from before the last successful fetch has no new key`(after: Int64, isOld: Bool) throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("invented", at: start + minute)
        // The fetch takes three seconds: what Apple signed meanwhile may have a newer key.
        state.finish(fetch, with: try .set(["A"]), at: start + minute + 3 * second)
        let refusal = state.refusal(
            for: "other", issuedAt: start + minute + after, at: start + minute + 4 * second)
        #expect(refusal.code == (isOld ? .unknownKey : .keysUnavailable))
    }

    @Test func `the key IDs that are remembered are bounded`() throws {
        let state = try DrivenKeySet.holding(["A"], bounds: KeySetBounds(mostWaiters: 3))
        let fetch = try state.causedFetch("0", at: start)
        // Callers give up and others come.
        for number in 1...5 { _ = state.lookUp("\(number)", at: start, waiters: 1) }
        state.finish(fetch, with: try .set(["A"]), at: start)
        let codes = (0...5).map { state.refusal(for: "\($0)", at: start).code }
        #expect(
            codes == Array(repeating: .unknownKey, count: 3) + Array(repeating: .keysUnavailable, count: 3))
    }

    @Test func `says when the next attempt is after a fetch that failed`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("x", at: start)
        #expect(state.refusal(at: start + 5 * second).retryAfter == 15)
        state.finish(fetch, with: .failed(.timedOut), at: start + 20 * second)
        #expect(state.refusal(at: start + 20 * second).retryAfter == 10)
        #expect(state.refusal(at: start + 25 * second).retryAfter == 5)
        // Without any key the refresh loop tries again sooner.
        let empty = DrivenKeySet()
        let first = try empty.causedFetch("x", at: start)
        empty.finish(first, with: .failed(.unreachable), at: start)
        #expect(empty.refusal(at: start).retryAfter == 1)
    }

    @Test func `a key is unknown only when the last fetch succeeded`() throws {
        let state = try DrivenKeySet.holding(["A"])
        #expect(state.refusal(issuedAt: start, at: start).code == .unknownKey)
        let fetch = try state.causedFetch("x", at: start)
        // Before the response it is not known whether the key is Apple's.
        #expect(state.refusal(at: start).code == .keysUnavailable)
        state.finish(fetch, with: .failed(.unreachable), at: start + second)
        #expect(state.refusal(at: start + second).code == .keysUnavailable)
        #expect(state.lookUp("x", at: start + second) == .refuse(KeySetError(.keysUnavailable)))
    }

    @Test func `refuses quickly while no set can be fetched`() throws {
        let state = DrivenKeySet()
        let fetch = try state.causedFetch("A", at: start)
        state.finish(fetch, with: .failed(.unreachable), at: start + second)
        #expect(state.lookUp("A", at: start + second) == .refuse(KeySetError(.keysUnavailable)))
        _ = try state.causedFetch("A", at: start + 30 * second)
    }

    @Test func `callers refresh a set without a refresh loop, without waiting`() throws {
        let state = try DrivenKeySet.holding(["A"], entityTag: #""1""#)
        let moment = start + 54 * minute
        #expect(state.lookUp("A", at: moment - 1) == .use)
        let fetch = KeySetFetch(number: 2, entityTag: #""1""#, giveUpAt: moment + 20 * second)
        #expect(state.lookUp("A", at: moment) == .useAndStartFetch(fetch))
        #expect(state.lookUp("A", at: moment) == .use)
    }

    @Test func `does not fetch after stop, and still returns keys`() throws {
        let state = try DrivenKeySet.holding(["A"])
        state.stop()
        #expect(state.lookUp("A", at: start + 2 * hour) == .use)
        #expect(state.lookUp("x", at: start + 2 * hour) == .refuse(KeySetError(.keysUnavailable)))
        state.resume()
        _ = try state.causedFetch("x", at: start + 2 * hour)
    }

    @Test func `a cancelled fetch says nothing about Apple`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("x", at: start)
        #expect(state.finish(fetch, with: .cancelled, at: start) == .wakeWaiters)
        #expect(state.health(at: start).status == .ready)
        #expect(state.health(at: start).lastFailure == nil)
    }

    @Test func `a response to another fetch changes nothing`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = KeySetFetch(number: 77, entityTag: nil, giveUpAt: start)
        #expect(state.finish(fetch, with: try .set(["B"]), at: start) == .wakeWaiters)
        #expect(state.has("A", at: start))
    }
}

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
