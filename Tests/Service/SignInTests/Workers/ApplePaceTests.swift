import AppleAccounts
import AppleIDClient
import StorageConformance
import TestSupport
import Testing

@testable import SignIn

@Suite struct ApplePaceTests {
    var generator = SeededGenerator(seed: 1)
    var pace = ApplePace(DailyCheck.paceLimits, perSecond: 10, at: 0)
    var exchanges = ApplePace(CodeExchange.paceLimits, perSecond: nil, at: 0)

    @Test mutating func `does not ask while Apple is out of reach, for longer each time`() {
        var now: Moment = 0
        var pauses: [Int64] = []
        for _ in 0..<9 {
            let until = pace.missed(at: now, using: &generator)
            // Those that were on their way end in the same pause.
            #expect(pace.missed(at: now, using: &generator) == until)
            #expect(pace.admit(upTo: 5, at: now) == 0)
            #expect(pace.wait(for: 1, at: now) == .milliseconds(until.milliseconds - now.milliseconds))
            pauses.append(until.milliseconds - now.milliseconds)
            now = until
            #expect(pace.admit(upTo: 5, at: now) == 5)
        }
        #expect((5000...6250).contains(pauses[0]))
        #expect((10_000...12_500).contains(pauses[1]))
        #expect((300_000...375_000).contains(pauses[8]))
        pace.reached("com.example.app")
        let until = pace.missed(at: now, using: &generator)
        #expect((5000...6250).contains(until.milliseconds - now.milliseconds))
        pace.reached("com.example.app")
        #expect(pace.wait(for: 1, at: now) == .zero)
    }

    @Test mutating func `lets one client ID rest and not the others`() {
        #expect(pace.rest(of: "a", at: 0) == nil)
        #expect(pace.refused("a", at: 0) == 600_000)
        #expect(pace.rest(of: "a", at: 599_999) == 600_000)
        #expect(pace.rest(of: "b", at: 0) == nil)
        #expect(pace.admit(upTo: 3, at: 0) == 3)
        #expect(pace.rest(of: "a", at: 600_000) == nil)
        _ = pace.refused("a", at: 0)
        pace.reached("a")
        #expect(pace.rest(of: "a", at: 1) == nil)
    }

    @Test mutating func `pauses when Apple throttles several in a row, and not for one`() {
        pace.throttled(at: 0, retryAfter: nil, using: &generator)
        pace.throttled(at: 0, retryAfter: nil, using: &generator)
        #expect(pace.wait(for: 1, at: 0) == .zero)
        pace.reached("a")
        pace.throttled(at: 0, retryAfter: nil, using: &generator)
        pace.throttled(at: 0, retryAfter: nil, using: &generator)
        #expect(pace.admit(upTo: 1, at: 0) == 1)
        pace.throttled(at: 0, retryAfter: nil, using: &generator)
        #expect(pace.admit(upTo: 1, at: 0) == 0)
        #expect(pace.wait(for: 1, at: 0) >= .seconds(5))
    }

    @Test mutating func `asks one by one after throttling, with longer pauses, until Apple takes a call`() {
        var now: Moment = 0
        var pauses: [Int64] = []
        for _ in 0..<7 {
            exchanges.throttled(at: now, retryAfter: nil, using: &generator)
            let wait = exchanges.wait(for: 8, at: now)
            // Those that were on their way.
            exchanges.throttled(at: now, retryAfter: .seconds(30), using: &generator)
            #expect(exchanges.wait(for: 8, at: now) == wait)
            #expect(exchanges.admit(upTo: 32, at: now) == 0)
            pauses.append(wait.wholeMilliseconds)
            now = now.advanced(byMilliseconds: wait.wholeMilliseconds)
            #expect(exchanges.admit(upTo: 32, at: now) == 1)
            #expect(exchanges.admit(upTo: 32, at: now) == 0)
        }
        #expect((1000...1250).contains(pauses[0]))
        #expect((2000...2500).contains(pauses[1]))
        #expect((30_000...37_500).contains(pauses[6]))
        exchanges.reached("a")
        #expect(exchanges.admit(upTo: 32, at: now) == 32)
    }

    @Test mutating func `tries again at once when there was nothing to try with`() {
        exchanges.throttled(at: 0, retryAfter: nil, using: &generator)
        #expect(exchanges.admit(upTo: 32, at: 2000) == 1)
        exchanges.giveBack(1)
        #expect(exchanges.admit(upTo: 32, at: 2000) == 1)
    }

    @Test mutating func `waits as long as Apple asks for, and not longer than a code can wait`() {
        exchanges.throttled(at: 0, retryAfter: .seconds(9), using: &generator)
        #expect(exchanges.wait(for: 1, at: 0) == .seconds(9))
        exchanges.throttled(at: 9000, retryAfter: .seconds(3600), using: &generator)
        #expect(exchanges.wait(for: 1, at: 9000) == .seconds(30))
    }

    @Test mutating func `lets a client ID of exchanges rest after three refusals in a row`() {
        for _ in 0..<2 { exchanges.exchangeFailed(.invalidClient, of: "a", at: 0, using: &generator) }
        #expect(exchanges.rest(of: "a", at: 0) == nil)
        // Apple refused this code and not the client ID.
        exchanges.exchangeFailed(.invalidGrant, of: "a", at: 0, using: &generator)
        for _ in 0..<2 { exchanges.exchangeFailed(.invalidClient, of: "a", at: 0, using: &generator) }
        #expect(exchanges.rest(of: "a", at: 0) == nil)
        exchanges.exchangeFailed(.invalidClient, of: "a", at: 0, using: &generator)
        #expect(exchanges.rest(of: "a", at: 0) == 30_000)
        #expect(exchanges.rest(of: "b", at: 0) == nil)
        #expect(exchanges.rest(of: "a", at: 30_000) == nil)
        exchanges.exchangeFailed(.invalidClient, of: "a", at: 30_000, using: &generator)
        #expect(exchanges.rest(of: "a", at: 30_000) == 60_000)
    }

    @Test(
        arguments: [.unreachable, .circuitOpen, .timedOut, .serverFailed, .noSigningKey]
            as [AppleCallError.Code])
    mutating func `goes on with exchanges after other failures`(code: AppleCallError.Code) {
        for _ in 0..<9 { exchanges.exchangeFailed(AppleCallError(code), of: "a", at: 0, using: &generator) }
        #expect(exchanges.admit(upTo: 32, at: 0) == 32)
        #expect(exchanges.rest(of: "a", at: 0) == nil)
    }

    @Test mutating func `is not stopped for days by a clock that was set back`() {
        _ = pace.missed(at: 1_000_000_000, using: &generator)
        _ = pace.refused("a", at: 1_000_000_000)
        #expect(pace.wait(for: 1, at: 0) == .zero)
        #expect(pace.rest(of: "a", at: 0) == nil)
    }
}

@Suite struct TokenBucketTests {
    @Test func `gives one second's worth at once and then its rate`() {
        var bucket = TokenBucket(perSecond: 25, at: 0)
        #expect(bucket.take(upTo: 100, at: 0) == 25)
        #expect(bucket.take(upTo: 1, at: 39) == 0)
        #expect(bucket.take(upTo: 1, at: 40) == 1)
        #expect(bucket.take(upTo: 100, at: 10_000) == 25)
        #expect(bucket.take(upTo: 3, at: 10_200) == 3)
        #expect(bucket.take(upTo: 3, at: 10_200) == 2)
    }

    @Test func `never gives more than its rate in the long run`() {
        var bucket = TokenBucket(perSecond: 7.5, at: 0)
        var taken = 0
        for moment in stride(from: Int64(0), through: 100_000, by: 13) {
            taken += bucket.take(upTo: 4, at: Moment(milliseconds: moment))
        }
        #expect((750...758).contains(taken))
    }

    @Test func `says how long to wait`() {
        var bucket = TokenBucket(perSecond: 4, at: 0)
        #expect(bucket.wait(for: 4, at: 0) == .zero)
        #expect(bucket.take(upTo: 4, at: 0) == 4)
        #expect(bucket.wait(for: 1, at: 0) == .milliseconds(250))
        #expect(bucket.wait(for: 2, at: 100) == .milliseconds(400))
        #expect(bucket.take(upTo: 2, at: 500) == 2)
        // More than it ever holds: when it is full.
        #expect(bucket.wait(for: 100, at: 500) == .seconds(1))
    }

    @Test func `holds one when the rate is less than one in a second`() {
        var bucket = TokenBucket(perSecond: 0.1, at: 0)
        #expect(bucket.take(upTo: 5, at: 0) == 1)
        #expect(bucket.wait(for: 5, at: 0) == .seconds(10))
        #expect(bucket.take(upTo: 5, at: 9999) == 0)
        #expect(bucket.take(upTo: 5, at: 10_000) == 1)
    }

    @Test func `takes back what was not used, and no more than it holds`() {
        var bucket = TokenBucket(perSecond: 5, at: 0)
        #expect(bucket.take(upTo: 5, at: 0) == 5)
        bucket.giveBack(3)
        #expect(bucket.take(upTo: 5, at: 0) == 3)
        bucket.giveBack(1000)
        #expect(bucket.take(upTo: 1000, at: 0) == 5)
    }

    @Test func `is not confused by a clock that is set back or far ahead`() {
        var bucket = TokenBucket(perSecond: 5, at: 1_000_000)
        #expect(bucket.take(upTo: 5, at: 1_000_000) == 5)
        #expect(bucket.take(upTo: 5, at: 0) == 0)
        #expect(bucket.take(upTo: 5, at: 200) == 1)
        #expect(bucket.take(upTo: 100, at: .last) == 5)
        #expect(bucket.take(upTo: -1, at: .last) == 0)
    }
}
