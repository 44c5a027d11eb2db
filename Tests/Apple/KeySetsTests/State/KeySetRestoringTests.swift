import KeySets
import Testing

@Suite struct KeySetRestoringTests {
    private let start = DrivenKeySet.start

    private func restored(fetchedAt: Int64, freshUntil: Int64, at now: Int64) throws -> DrivenKeySet {
        let state = DrivenKeySet()
        #expect(
            try state.restore(
                ["A"], entityTag: #""1""#, fetchedAt: fetchedAt, freshUntil: freshUntil, at: now))
        return state
    }

    @Test func `a fresh snapshot is used, and refreshed when it would have been`() throws {
        let state = try restored(fetchedAt: start, freshUntil: start + hour, at: start + 10 * minute)
        #expect(state.health(at: start + 10 * minute).status == .ready)
        #expect(state.health(at: start + 10 * minute).age == 10 * minute)
        #expect(state.nextFetch(after: start + 10 * minute) == start + 54 * minute)
        #expect(try state.dueFetch(at: start + 54 * minute).entityTag == #""1""#)
    }

    @Test func `an old snapshot is used, and refreshed at once`() throws {
        let now = start + 6 * day
        let state = try restored(fetchedAt: start, freshUntil: start + hour, at: now)
        #expect(state.health(at: now).status == .stale(nil))
        try state.refresh(.failed(.unreachable), at: now)
        #expect(state.has("A", at: now))
        #expect(state.health(at: now).isReady)
        #expect(!state.has("A", at: start + 7 * day))
    }

    @Test func `a snapshot older than 7 days is not used`() throws {
        let state = try restored(fetchedAt: start, freshUntil: start + hour, at: start + 7 * day)
        #expect(!state.has("A", at: start + 7 * day))
        #expect(state.health(at: start + 7 * day).status == .unavailable(nil))
    }

    @Test func `a snapshot cannot extend its freshness`() throws {
        let state = try restored(fetchedAt: start, freshUntil: .max, at: start)
        #expect(state.health(at: start).freshUntil == start + day)
    }

    @Test func `a snapshot fresh until before it was fetched is stale`() throws {
        let state = try restored(fetchedAt: start, freshUntil: .min, at: start)
        #expect(state.health(at: start).status == .stale(nil))
        #expect(state.nextFetch(after: start) == start)
    }

    @Test func `a snapshot from the future is used, ages from now, and is refreshed at once`() throws {
        let future = start + 3650 * day
        let state = try restored(fetchedAt: future, freshUntil: future + hour, at: start)
        #expect(state.has("A", at: start))
        #expect(state.nextFetch(after: start) == start)
        #expect(!state.has("A", at: start + 7 * day))
    }

    @Test(arguments: [DrivenKeySet.start, DrivenKeySet.start - 1, .min])
    func `a cached set that is as new or newer stays`(fetchedAt: Int64) throws {
        let state = try DrivenKeySet.holding(["B"])
        #expect(try !state.restore(["A"], fetchedAt: fetchedAt, freshUntil: start + hour, at: start + 1))
        #expect(state.has("B", at: start + 1))
        #expect(!state.has("A", at: start + 1))
    }

    @Test func `a snapshot that is newer than the cached set is used`() throws {
        let state = try DrivenKeySet.holding(["B"])
        #expect(try state.restore(["A"], fetchedAt: start + 1, freshUntil: start + hour, at: start + 1))
        #expect(state.has("A", at: start + 1))
    }
}

/// Sets that another replica has stored, which are read before a fetch.
@Suite struct KeySetAdoptingTests {
    private let start = DrivenKeySet.start

    @Test func `a refresh by another replica is not repeated`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let now = start + 54 * minute
        let fetch = try state.dueFetch(at: now)
        #expect(try state.adopt(["A", "B"], fetchedAt: now - minute, for: fetch, at: now) == .wakeWaiters)
        #expect(!state.isRunning(fetch.number))
        #expect(state.has("B", at: now))
        #expect(state.health(at: now).status == .ready)
        #expect(state.health(at: now).age == minute)
        #expect(state.health(at: now).fetches.adopted == 1)
        // The next refresh is due at the same time as for the replica that fetched.
        #expect(state.nextFetch(after: now) == now - minute + 54 * minute)
    }

    @Test func `a key that leaves the adopted set is gone`() throws {
        let state = try DrivenKeySet.holding(["A", "B"])
        let fetch = try state.dueFetch(at: start + 54 * minute)
        _ = try state.adopt(["B"], fetchedAt: start + 53 * minute, for: fetch, at: start + 54 * minute)
        #expect(!state.has("A", at: start + 54 * minute))
    }

    @Test(arguments: [DrivenKeySet.start, DrivenKeySet.start - 1, .min])
    func `the set is fetched when no other replica has fetched it`(fetchedAt: Int64) throws {
        let state = try DrivenKeySet.holding(["A"], entityTag: #""1""#)
        let now = start + 54 * minute
        let fetch = try state.dueFetch(at: now)
        #expect(try state.adopt(["B"], fetchedAt: fetchedAt, for: fetch, at: now) == .ask(fetch))
        #expect(state.isRunning(fetch.number))
        #expect(!state.has("B", at: now))
    }

    @Test func `a newer set that is not fresh is adopted, and its entity tag is sent to Apple`() throws {
        let state = try DrivenKeySet.holding(["A"], entityTag: #""1""#)
        let now = start + 3 * hour
        let fetch = try state.dueFetch(at: now)
        let action = try state.adopt(["B"], entityTag: #""2""#, fetchedAt: start + hour, for: fetch, at: now)
        let renewed = KeySetFetch(number: fetch.number, entityTag: #""2""#, giveUpAt: fetch.giveUpAt)
        #expect(action == .ask(renewed))
        #expect(state.has("B", at: now))
        state.finish(renewed, with: .confirmed(.absent), at: now)
        #expect(state.has("B", at: now))
        #expect(state.health(at: now).age == 0)
    }

    @Test(arguments: [1, minute, 3650 * day])
    func `a set from the future does not prevent a fetch`(ahead: Int64) throws {
        let state = try DrivenKeySet.holding(["A"])
        let now = start + 54 * minute
        let fetch = try state.dueFetch(at: now)
        #expect(try state.adopt(["B"], fetchedAt: now + ahead, for: fetch, at: now) == .ask(fetch))
        #expect(state.has("A", at: now))
    }

    @Test func `an unknown key that another replica has fetched is adopted`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("new", at: start + 10 * minute)
        #expect(
            try state.adopt(["A", "new"], fetchedAt: start + minute, for: fetch, at: start + 10 * minute)
                == .wakeWaiters)
        #expect(state.lookUp("new", at: start + 10 * minute) == .use)
        // That set is too old to prove that other keys are unknown, and they have not been fetched.
        #expect(state.refusal(at: start + 10 * minute).code == .keysUnavailable)
        _ = try state.causedFetch("other", at: start + 10 * minute)
    }

    @Test func `an unknown key that no other replica has is fetched, without a condition`() throws {
        let state = try DrivenKeySet.holding(["A"], entityTag: #""1""#)
        let now = start + 10 * minute
        let fetch = try state.causedFetch("new", at: now)
        let action = try state.adopt(
            ["A", "B"], entityTag: #""2""#, fetchedAt: start + minute, for: fetch, at: now)
        #expect(action == .ask(fetch))
        #expect(fetch.entityTag == nil)
        #expect(state.has("B", at: now))
        state.finish(fetch, with: try .set(["A", "B"]), at: now)
        #expect(state.refusal(for: "new", at: now).code == .unknownKey)
    }

    @Test func `all replicas together fetch for unknown keys once in 30 seconds`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let now = start + 10 * minute
        let fetch = try state.causedFetch("invented", at: now)
        // Another replica fetched ten seconds ago, for another key: only tokens from before then have no new key.
        let asked = now - 10 * second
        #expect(try state.adopt(["A"], fetchedAt: asked, for: fetch, at: now) == .wakeWaiters)
        #expect(state.refusal(for: "invented", issuedAt: asked - minute, at: now).code == .unknownKey)
        let refusal = state.refusal(for: "invented", issuedAt: now - second, at: now)
        #expect(refusal.code == .keysUnavailable)
        #expect(refusal.retryAfter == 20)
        #expect(
            state.lookUp("invented", at: asked + 30 * second - 1) == .refuse(KeySetError(.keysUnavailable)))
        _ = try state.causedFetch("invented", at: asked + 30 * second)
    }

    @Test func `a set of another replica ends an outage`() throws {
        let state = try DrivenKeySet.holding(["A"])
        try state.refresh(.failed(.unreachable), at: start + hour)
        #expect(state.health(at: start + hour).status == .stale(.unreachable))
        let now = start + hour + 30 * second
        let fetch = try state.dueFetch(at: now)
        #expect(try state.adopt(["A"], fetchedAt: now - second, for: fetch, at: now) == .wakeWaiters)
        #expect(state.health(at: now).status == .ready)
    }

    @Test func `a first start adopts the stored set`() throws {
        let state = DrivenKeySet()
        let fetch = try state.causedFetch("A", at: start + hour)
        #expect(try state.adopt(["A"], fetchedAt: start, for: fetch, at: start + hour) == .wakeWaiters)
        #expect(state.has("A", at: start + hour))
    }

    @Test func `a set older than 7 days is not adopted`() throws {
        let state = DrivenKeySet()
        let fetch = try state.causedFetch("A", at: start + 7 * day)
        #expect(try state.adopt(["A"], fetchedAt: start, for: fetch, at: start + 7 * day) == .ask(fetch))
    }

    @Test func `adopting for a fetch that has ended changes nothing`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("x", at: start + second)
        state.finish(fetch, with: .failed(.timedOut), at: start + 2 * second)
        #expect(
            try state.adopt(["B"], fetchedAt: start + second, for: fetch, at: start + 2 * second)
                == .wakeWaiters)
        #expect(!state.has("B", at: start + 2 * second))
    }
}
