import AppleAccounts
import StorageConformance
import Testing

@testable import SignIn

@Suite struct LogThrottleTests {
    @Test func `tells a cause at once and then once a minute, with the number between`() {
        var logThrottle = LogThrottle()
        #expect(logThrottle.admit("a", at: 1000) == 0)
        #expect(logThrottle.admit("a", at: 1001) == nil)
        #expect(logThrottle.admit("a", at: 60_999) == nil)
        #expect(logThrottle.admit("b", at: 60_999) == 0)
        #expect(logThrottle.admit("a", at: 61_000) == 2)
        #expect(logThrottle.admit("a", at: 61_001) == nil)
        // A clock that was set back must not silence it.
        #expect(logThrottle.admit("a", at: 0) == 1)
    }

    @Test func `remembers a bounded number of causes`() {
        var logThrottle = LogThrottle()
        for number in 0..<10_000 { #expect(logThrottle.admit("cause \(number)", at: 0) == 0) }
        #expect(logThrottle.admit("cause 9999", at: 1) == nil)
        #expect(logThrottle.admit("cause 0", at: 1) == 0)
    }
}
