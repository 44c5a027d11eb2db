import KeySets
import Testing

/// What another replica has stored, looked at before Apple is asked.
@Suite struct KeySetAdoptingTests {
    private let start = DrivenKeySet.start

    @Test func `a refresh that another replica has made is not made again`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let now = start + 54 * minute
        let fetch = try state.dueFetch(at: now)
        #expect(try state.adopt(["A", "B"], fetchedAt: now - minute, for: fetch, at: now) == .wakeWaiters)
        #expect(!state.isRunning(fetch.number))
        #expect(state.has("B", at: now))
        #expect(state.health(at: now).status == .ready)
        #expect(state.health(at: now).age == minute)
        #expect(state.health(at: now).fetches.adopted == 1)
        // The next one is due when it would have been for the replica that asked.
        #expect(state.nextFetch(after: now) == now - minute + 54 * minute)
    }

    @Test func `a key that leaves the adopted set is gone`() throws {
        let state = try DrivenKeySet.holding(["A", "B"])
        let fetch = try state.dueFetch(at: start + 54 * minute)
        _ = try state.adopt(["B"], fetchedAt: start + 53 * minute, for: fetch, at: start + 54 * minute)
        #expect(!state.has("A", at: start + 54 * minute))
    }

    @Test(arguments: [DrivenKeySet.start, DrivenKeySet.start - 1, .min])
    func `Apple is asked when nobody was quicker`(fetchedAt: Int64) throws {
        let state = try DrivenKeySet.holding(["A"], entityTag: #""1""#)
        let now = start + 54 * minute
        let fetch = try state.dueFetch(at: now)
        #expect(try state.adopt(["B"], fetchedAt: fetchedAt, for: fetch, at: now) == .ask(fetch))
        #expect(state.isRunning(fetch.number))
        #expect(!state.has("B", at: now))
    }

    @Test func `a newer set that is not fresh is taken, and Apple asked about that one`() throws {
        let state = try DrivenKeySet.holding(["A"], entityTag: #""1""#)
        let now = start + 3 * hour
        let fetch = try state.dueFetch(at: now)
        let action = try state.adopt(
            ["B"], entityTag: #""2""#, fetchedAt: start + hour, for: fetch, at: now)
        let renewed = KeySetFetch(number: fetch.number, entityTag: #""2""#, giveUpAt: fetch.giveUpAt)
        #expect(action == .ask(renewed))
        #expect(state.has("B", at: now))
        state.finish(renewed, with: .confirmed(.absent), at: now)
        #expect(state.has("B", at: now))
        #expect(state.health(at: now).age == 0)
    }

    @Test(arguments: [1, minute, 3650 * day])
    func `a set from the future keeps nobody from asking`(ahead: Int64) throws {
        let state = try DrivenKeySet.holding(["A"])
        let now = start + 54 * minute
        let fetch = try state.dueFetch(at: now)
        #expect(try state.adopt(["B"], fetchedAt: now + ahead, for: fetch, at: now) == .ask(fetch))
        #expect(state.has("A", at: now))
    }

    @Test func `an unknown key that another replica has found is taken from there`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("new", at: start + 10 * minute)
        #expect(
            try state.adopt(["A", "new"], fetchedAt: start + minute, for: fetch, at: start + 10 * minute)
                == .wakeWaiters)
        #expect(state.lookUp("new", at: start + 10 * minute) == .use)
        // That set is too old to say anything about other keys, and Apple was not asked for them.
        #expect(state.refusal(at: start + 10 * minute) == .keysUnavailable)
        _ = try state.causedFetch("other", at: start + 10 * minute)
    }

    @Test func `an unknown key that another replica has not found either is asked for, without a condition`()
        throws
    {
        let state = try DrivenKeySet.holding(["A"], entityTag: #""1""#)
        let now = start + 10 * minute
        let fetch = try state.causedFetch("new", at: now)
        let action = try state.adopt(
            ["A", "B"], entityTag: #""2""#, fetchedAt: start + minute, for: fetch, at: now)
        #expect(action == .ask(fetch))
        #expect(fetch.entityTag == nil)
        #expect(state.has("B", at: now))
        state.finish(fetch, with: try .set(["A", "B"]), at: now)
        #expect(state.refusal(at: now) == .unknownKey)
    }

    @Test func `all replicas together ask for unknown keys once in 30 seconds`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let now = start + 10 * minute
        let fetch = try state.causedFetch("invented", at: now)
        // Another replica has asked ten seconds ago, and it was not there.
        let asked = now - 10 * second
        #expect(try state.adopt(["A"], fetchedAt: asked, for: fetch, at: now) == .wakeWaiters)
        #expect(state.refusal(at: now) == .unknownKey)
        #expect(state.lookUp("invented", at: asked + 30 * second - 1) == .refuse(.unknownKey))
        _ = try state.causedFetch("invented", at: asked + 30 * second)
    }

    @Test func `what another replica could get ends an outage`() throws {
        let state = try DrivenKeySet.holding(["A"])
        try state.refresh(.failed(.unreachable), at: start + hour)
        #expect(state.health(at: start + hour).status == .stale(.unreachable))
        let now = start + hour + 30 * second
        let fetch = try state.dueFetch(at: now)
        #expect(try state.adopt(["A"], fetchedAt: now - second, for: fetch, at: now) == .wakeWaiters)
        #expect(state.health(at: now).status == .ready)
    }

    @Test func `a first start with nothing at hand takes what is stored`() throws {
        let state = DrivenKeySet()
        let fetch = try state.causedFetch("A", at: start + hour)
        #expect(try state.adopt(["A"], fetchedAt: start, for: fetch, at: start + hour) == .wakeWaiters)
        #expect(state.has("A", at: start + hour))
    }

    @Test func `what is past its 7 days helps nobody`() throws {
        let state = DrivenKeySet()
        let fetch = try state.causedFetch("A", at: start + 7 * day)
        #expect(try state.adopt(["A"], fetchedAt: start, for: fetch, at: start + 7 * day) == .ask(fetch))
    }

    @Test func `a look for a fetch that is over changes nothing`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("x", at: start + second)
        state.finish(fetch, with: .failed(.timedOut), at: start + 2 * second)
        #expect(
            try state.adopt(["B"], fetchedAt: start + second, for: fetch, at: start + 2 * second)
                == .wakeWaiters)
        #expect(!state.has("B", at: start + 2 * second))
    }
}
