import AppleAccounts
import StorageConformance
import Testing

@testable import SignIn

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
