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
