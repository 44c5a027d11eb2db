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

    @Test func `a snapshot from the future is used, its age counts from now, and it is refreshed at once`()
        throws
    {
        let future = start + 3650 * day
        let state = try restored(fetchedAt: future, freshUntil: future + hour, at: start)
        #expect(state.has("A", at: start))
        #expect(state.nextFetch(after: start) == start)
        #expect(!state.has("A", at: start + 7 * day))
    }

    @Test(arguments: [DrivenKeySet.start, DrivenKeySet.start - 1, .min])
    func `a cached set that is as new or newer stays`(fetchedAt: Int64) throws {
        let state = try DrivenKeySet.holding(["B"])
        #expect(
            try !state.restore(["A"], fetchedAt: fetchedAt, freshUntil: start + hour, at: start + 1))
        #expect(state.has("B", at: start + 1))
        #expect(!state.has("A", at: start + 1))
    }

    @Test func `a snapshot that is newer than the cached set is used`() throws {
        let state = try DrivenKeySet.holding(["B"])
        #expect(
            try state.restore(["A"], fetchedAt: start + 1, freshUntil: start + hour, at: start + 1))
        #expect(state.has("A", at: start + 1))
    }
}
