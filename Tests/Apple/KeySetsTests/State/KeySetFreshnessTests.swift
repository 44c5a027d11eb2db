import JOSE
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

    @Test func `a set fetched with a clock in the future is fetched again soon, and ages from now`() throws {
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
            state.finish(fetch, with: try .set(["A"], cacheControl: "max-age=99999"), at: now, jitter: .max)
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

@Suite struct KeySetFetchOutcomeTests {
    private static func failure(_ response: KeySetResponse, to tag: String? = nil) -> KeySetFetchError.Code? {
        guard case .failed(let code) = KeySetFetchOutcome(response, to: tag) else { return nil }
        return code
    }

    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func `accepts a key set with its entity tag and freshness`() throws {
        let response = SampleKeySet.response(["A"], entityTag: #""1""#, cacheControl: "max-age=600")
        guard case .replaced(let received, let cacheControl) = KeySetFetchOutcome(response, to: nil) else {
            throw TestFailure("refused")
        }
        #expect(received.keys.keyIDs == ["A"])
        #expect(received.body == response.body)
        #expect(received.entityTag == #""1""#)
        #expect(cacheControl == .fresh(milliseconds: 600_000))
    }

    @Test(arguments: [
        ("", KeySetFetchError.Code.empty), ("<!DOCTYPE html><p>Sorry</p>", .html), (" \r\n<html>", .html),
        ("Service Unavailable", .malformed), ("{", .malformed), ("null", .malformed), ("[]", .malformed),
        ("{}", .malformed), (#"{"keys":{}}"#, .malformed), (#"{"keys":[],}"#, .malformed),
        (#"{"error":"try later"}"#, .malformed), (#"{"keys":[]}"#, .noUsableKey),
        (#"{"keys":[null,1,"A",{}]}"#, .noUsableKey),
    ])
    func `refuses a body that is not a usable key set`(body: String, code: KeySetFetchError.Code) {
        #expect(Self.failure(KeySetResponse(status: 200, body: Self.bytes(body))) == code)
    }

    @Test func `refuses a set without a usable key`() {
        let response = KeySetResponse(status: 200, body: SampleKeySet.withoutUsableKey)
        #expect(Self.failure(response) == .noUsableKey)
    }

    @Test func `refuses more than 64 KiB, and not a byte less`() throws {
        let body = SampleKeySet.body(["A"])
        let padding = [UInt8](repeating: 0x20, count: KeySetResponse.longestBody - body.count)
        #expect(Self.failure(KeySetResponse(status: 200, body: body + padding)) == nil)
        #expect(Self.failure(KeySetResponse(status: 200, body: body + padding + [0x20])) == .tooLarge)
    }

    @Test(arguments: [0, 100, 201, 203, 204, 206, 301, 302, 307, 400, 401, 403, 404, 429, 500, 502, 503, -1])
    func `refuses every other status, even with a good key set`(status: Int) {
        let response = KeySetResponse(status: status, body: SampleKeySet.body(["A"]))
        #expect(Self.failure(response, to: #""1""#) == .statusUnexpected)
    }

    @Test func `names an error page by its content type`() {
        let response = KeySetResponse(
            status: 200, body: Self.bytes("Sorry"), contentType: "Text/HTML; charset=x")
        #expect(Self.failure(response) == .html)
    }

    @Test func `decides by the body, not by the content type`() {
        let response = KeySetResponse(status: 200, body: SampleKeySet.body(["A"]), contentType: "text/html")
        #expect(Self.failure(response) == nil)
    }

    @Test func `accepts a 304 only after a conditional request`() throws {
        let response = KeySetResponse(status: 304, body: [], cacheControl: "max-age=600")
        #expect(Self.failure(response, to: nil) == .statusUnexpected)
        guard case .confirmed(.fresh(milliseconds: 600_000)) = KeySetFetchOutcome(response, to: #""1""#)
        else { throw TestFailure("not confirmed") }
    }

    @Test(arguments: [
        "", " ", "\"a b\"", "\"a\r\nX: y\"", "\"\u{0}\"", "\"\u{E9}\"",
        "\"" + String(repeating: "x", count: 256),
    ])
    func `drops an entity tag that would break later requests`(tag: String) throws {
        #expect(try SampleKeySet.received(["A"], entityTag: tag).entityTag == nil)
    }

    @Test(arguments: [#""abc""#, #"W/"abc""#, "abc"])
    func `keeps an entity tag that can be sent back`(tag: String) throws {
        #expect(try SampleKeySet.received(["A"], entityTag: tag).entityTag == tag)
    }
}

extension KeySetFetchOutcome {
    static func set(
        _ keyIDs: [String], entityTag: String? = nil, cacheControl: String? = nil
    ) throws -> KeySetFetchOutcome {
        .replaced(
            try SampleKeySet.received(keyIDs, entityTag: entityTag), CacheControl(cacheControl, age: nil))
    }
}

@Suite struct CacheControlTests {
    @Test(arguments: [
        nil, "", "public", "must-revalidate, private", "s-maxage=9, x-max-age=9", "maxage=9", "max-age =60",
        ",,",
    ])
    func `is absent when the field has no freshness`(field: String?) {
        #expect(CacheControl(field, age: nil) == .absent)
    }

    @Test(arguments: [
        "no-store", "no-cache", "NO-STORE", "no-cache, max-age=600", "max-age=600, no-store",
        #"max-age=600, no-cache="set-cookie""#, "no-cache, no-store, max-age=0, must-revalidate", "max-age=0",
        "max-age=-1", "max-age=", "max-age", "max-age=1.5", "max-age=1e3", "max-age= 60",
        "max-age=+60", "max-age=60s", "max-age=0x10", "max-age=9223372036854775808", #"max-age="60"#,
        "max-age=99999999999999999999999999999999999999", "max-age=\u{0661}\u{0662}", "max-age=\u{FF16}",
    ])
    func `is unusable when caching is forbidden or the directives are malformed`(field: String) {
        #expect(CacheControl(field, age: nil) == .unusable)
    }

    @Test(arguments: [
        ("max-age=600", 600), ("MAX-AGE=600", 600), (" public ,\tmax-age=600 , immutable", 600),
        (#"max-age="600""#, 600), ("max-age=600,max-age=1", 600),
        (#"private="x, no-store", max-age=600"#, 600),
        (#"private="x\", no-store", max-age=600"#, 600), ("max-age=00600", 600),
    ])
    func `is fresh for the seconds of max-age`(field: String, seconds: Int64) {
        #expect(CacheControl(field, age: nil) == .fresh(milliseconds: seconds * 1000))
    }

    @Test(arguments: [
        ("0", 600), ("100", 500), ("600", 0), ("601", 0), ("99999999999999999999999999", 0),
        ("-1", 600), ("", 600), ("a while", 600), ("1 ", 600),
    ])
    func `subtracts the age of the response`(age: String, seconds: Int64) {
        #expect(CacheControl("max-age=600", age: age) == .fresh(milliseconds: seconds * 1000))
    }

    @Test func `saturates at the largest number`() {
        #expect(CacheControl("max-age=9223372036854775807", age: nil) == .fresh(milliseconds: .max))
        #expect(
            CacheControl("max-age=9223372036854775807", age: "9223372036854775807")
                == .fresh(milliseconds: 0))
    }

    @Test func `does not parse a field that is too long`() {
        let field = "max-age=600" + String(repeating: ", x", count: 2000)
        #expect(CacheControl(field, age: nil) == .unusable)
    }
}
