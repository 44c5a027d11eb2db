import KeySets
import Testing

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
