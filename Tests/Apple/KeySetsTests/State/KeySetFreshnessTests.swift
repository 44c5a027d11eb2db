import KeySets
import Testing

@Suite struct KeySetFreshnessTests {
    private let start = DrivenKeySet.start

    @Test(arguments: [
        // Limited to 5 minutes to 24 hours.
        ("max-age=1", 5 * minute), ("max-age=299", 5 * minute), ("max-age=301", 301 * second),
        ("max-age=7200", 2 * hour), ("max-age=86400", day), ("max-age=86401", day), ("max-age=31536000", day),
        ("max-age=9223372036854775807", day),
        // One hour when the headers do not say it or forbid caching.
        (nil, hour), ("public", hour), ("no-store", hour), ("no-cache, max-age=7200", hour),
        ("max-age=0", hour),
        ("max-age=soon", hour), ("max-age=9223372036854775808", hour),
    ])
    func `is fresh as long as Cache-Control says, within limits`(cacheControl: String?, span: Int64) throws {
        let state = try DrivenKeySet.holding(cacheControl: cacheControl)
        #expect(state.health(at: start).freshUntil == start + span)
        #expect(state.health(at: start + span - 1).status == .ready)
        #expect(state.health(at: start + span).status == .stale(nil))
    }

    @Test func `a response that arrives stale is fresh for the shortest time`() throws {
        let state = DrivenKeySet()
        let received = try SampleKeySet.received(["A"])
        try state.refresh(.replaced(received, CacheControl("max-age=60", age: "3600")), at: start)
        #expect(state.health(at: start).freshUntil == start + 5 * minute)
    }

    @Test(
        arguments: [
            (0, 54 * minute), (1000, 45 * minute), (500, 49 * minute + 30 * second), (-7, 54 * minute),
            (Int64.max, 45 * minute), (Int64.min, 54 * minute),
        ] as [(Int64, Int64)])
    func `fetches again before expiration, spread by jitter`(jitter: Int64, after: Int64) throws {
        let state = DrivenKeySet()
        try state.refresh(.set(["A"]), at: start, jitter: jitter)
        #expect(state.nextFetch(after: start) == start + after)
    }

    @Test func `fetches early also with the shortest freshness`() throws {
        let state = try DrivenKeySet.holding(cacheControl: "max-age=1")
        #expect(state.nextFetch(after: start) == start + 270 * second)
    }

    @Test func `sleeps a minute at most`() throws {
        let state = try DrivenKeySet.holding()
        #expect(state.nextRefresh(at: start) == .sleep(untilMilliseconds: start + minute))
        let late = start + 53 * minute + 30 * second
        #expect(state.nextRefresh(at: late) == .sleep(untilMilliseconds: start + 54 * minute))
    }

    @Test func `fetches at once at the start`() {
        let state = DrivenKeySet()
        let fetch = KeySetFetch(number: 1, entityTag: nil, giveUpAt: start + 20 * second)
        #expect(state.nextRefresh(at: start) == .startFetch(fetch))
        #expect(state.nextRefresh(at: start) == .joinFetch(1))
    }

    @Test func `sends the entity tag, and a 304 confirms the set`() throws {
        let state = try DrivenKeySet.holding(["A"], entityTag: #""1""#, cacheControl: "max-age=7200")
        let moment = start + 2 * hour
        let fetch = try state.dueFetch(at: moment)
        #expect(fetch.entityTag == #""1""#)
        let action = state.finish(fetch, with: .confirmed(.absent), at: moment + 5)

        #expect(state.has("A", at: moment + 5))
        #expect(state.health(at: moment + 5).age == 0)
        #expect(state.health(at: moment + 5).fetches.confirmed == 1)
        // A 304 without Cache-Control keeps the old freshness.
        let snapshot = KeySetSnapshot(
            body: SampleKeySet.body(["A"]), entityTag: #""1""#, fetchedAt: moment + 5,
            freshUntil: moment + 5 + 2 * hour)
        #expect(action == .wakeWaitersAndSave(snapshot))
    }

    @Test func `uses the freshness of a 304`() throws {
        let state = try DrivenKeySet.holding(["A"], entityTag: #""1""#, cacheControl: "max-age=7200")
        try state.refresh(.confirmed(.fresh(milliseconds: 10 * minute)), at: start + 2 * hour)
        #expect(state.health(at: start).freshUntil == start + 2 * hour + 10 * minute)
    }

    @Test func `sends no entity tag when the last response had none`() throws {
        let state = try DrivenKeySet.holding(["A"], entityTag: #""1""#)
        try state.refresh(.set(["A"]), at: start + hour)
        #expect(try state.dueFetch(at: start + 2 * hour).entityTag == nil)
    }

    @Test func `drops a key that is no longer in the set`() throws {
        let state = try DrivenKeySet.holding(["A", "B"])
        try state.refresh(.set(["B", "C"]), at: start + hour)
        #expect(!state.has("A", at: start + hour))
        #expect(state.has("B", at: start + hour))
        #expect(state.has("C", at: start + hour))
    }

    @Test func `returns a new set to be stored`() throws {
        let state = DrivenKeySet()
        let action = try state.refresh(.set(["A"], entityTag: #""1""#), at: start)
        let snapshot = KeySetSnapshot(
            body: SampleKeySet.body(["A"]), entityTag: #""1""#, fetchedAt: start, freshUntil: start + hour)
        #expect(action == .wakeWaitersAndSave(snapshot))
    }
}

/// Wall clocks can be set back or forwards, or start in 1970. Such changes must not end the process, remove
/// good keys for long, keep old keys forever, or cause more fetches.
@Suite struct KeySetClockTests {
    private let start = DrivenKeySet.start

    @Test(arguments: [1, second, hour, 10 * 365 * day])
    func `a clock set back keeps the keys and brings the next fetch forward`(step: Int64) throws {
        let state = try DrivenKeySet.holding(["A"], cacheControl: "max-age=86400")
        let now = start - step
        #expect(state.lookUp("A", at: now) == .use)
        #expect(state.nextFetch(after: now) == now + 30 * second)
        #expect(state.health(at: now).age == 0)
        // The 7 days begin now at the latest.
        #expect(!state.has("A", at: now + 7 * day))
    }

    @Test func `a clock set back does not cause more fetches`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("x", at: start)
        state.finish(fetch, with: try .set(["A"]), at: start)
        let now = start - hour
        #expect(state.lookUp("y", at: now) == .refuse(KeySetError(.keysUnavailable)))
        #expect(state.lookUp("y", at: now + 29 * second) == .refuse(KeySetError(.keysUnavailable)))
        _ = try state.causedFetch("y", at: now + 30 * second)
    }

    @Test func `after a clock was set back no token counts as older than the set`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let fetch = try state.causedFetch("x", at: start + minute)
        state.finish(fetch, with: try .set(["A"]), at: start + minute)
        let now = start - hour
        _ = state.lookUp("A", at: now)
        #expect(state.refusal(for: "new", issuedAt: now - second, at: now).code == .keysUnavailable)
    }

    @Test func `a clock set back during an outage does not delay the next retry`() throws {
        let state = try DrivenKeySet.holding(["A"])
        try state.refresh(.failed(.unreachable), at: start + 5 * hour)
        let now = start + 3 * hour
        #expect(state.nextFetch(after: now) == now + 30 * second)
        #expect(state.has("A", at: now))
    }

    @Test func `a clock that is set forwards and back again has no effect`() throws {
        let state = try DrivenKeySet.holding(["A"])
        let future = start + 3650 * day
        #expect(!state.has("A", at: future))
        try state.refresh(.failed(.unreachable), at: future)
        #expect(state.health(at: future).status == .unavailable(.unreachable))

        #expect(state.has("A", at: start + minute))
        #expect(state.nextFetch(after: start + minute) == start + minute + 30 * second)
    }

    @Test func `a set fetched with a clock in the future is fetched again soon, and its age counts from now`()
        throws
    {
        let state = try DrivenKeySet.holding(["A"])
        let future = start + 3650 * day
        try state.refresh(.set(["B"]), at: future)
        #expect(state.lookUp("B", at: start) == .use)
        #expect(state.health(at: start).freshUntil == start + day)
        #expect(state.nextFetch(after: start) == start + 30 * second)
        #expect(!state.has("B", at: start + 7 * day))
    }

    @Test func `a fetch that ends before it began is accepted`() throws {
        let state = DrivenKeySet()
        let fetch = try state.dueFetch(at: start)
        state.finish(fetch, with: try .set(["A"]), at: start - day)
        #expect(state.has("A", at: start - day))
    }

    @Test(arguments: [Int64.min, .min + 1, -1, 0, 1, .max - 1, .max])
    func `no time ends the process`(now: Int64) throws {
        for other in [Int64.min, -1, 0, DrivenKeySet.start, .max] {
            let state = DrivenKeySet()
            let fetch = try state.dueFetch(at: other)
            state.finish(
                fetch, with: try .set(["A"], cacheControl: "max-age=99999"), at: now, jitter: .max)
            _ = state.lookUp("A", at: other)
            _ = state.lookUp("x", at: now)
            if case .startFetch(let second) = state.nextRefresh(at: other) {
                state.finish(second, with: .failed(.html), at: now, jitter: .min)
            }
            _ = state.nextRefresh(at: now)
            _ = state.health(at: other)
            _ = try state.restore(["B"], fetchedAt: now, freshUntil: other, at: other, jitter: .max)
            _ = state.health(at: now)
            _ = state.refusal(at: now)
        }
    }
}
