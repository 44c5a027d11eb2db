import Testing

@testable import AppleIDClient

@Suite struct CircuitBreakerTests {
    /// A circuit breaker that has opened at 0 seconds.
    static func opened() -> CircuitBreaker {
        var breaker = CircuitBreaker()
        for _ in 0..<CircuitBreaker.threshold { fail(&breaker, at: .zero) }
        return breaker
    }

    static func fail(_ breaker: inout CircuitBreaker, at now: Duration) {
        breaker.end(breaker.admit(at: now), .failed, at: now)
    }

    @Test func `opens after five failures in a row`() {
        var breaker = CircuitBreaker()
        for _ in 1..<CircuitBreaker.threshold {
            Self.fail(&breaker, at: .zero)
            #expect(breaker.admit(at: .zero) == .admit)
        }
        Self.fail(&breaker, at: .zero)
        #expect(breaker.admit(at: .zero) == .refuse(retryAfter: CircuitBreaker.shortestPause))
        #expect(!breaker.isClosed)
    }

    @Test func `a response in between resets the count`() {
        var breaker = CircuitBreaker()
        for _ in 0..<10 {
            for _ in 1..<CircuitBreaker.threshold { Self.fail(&breaker, at: .zero) }
            breaker.end(breaker.admit(at: .zero), .answered, at: .zero)
        }
        #expect(breaker.admit(at: .zero) == .admit)
    }

    @Test func `abandoned calls do not count`() {
        var breaker = CircuitBreaker()
        for _ in 0..<100 { breaker.end(breaker.admit(at: .zero), .abandoned, at: .zero) }
        #expect(breaker.admit(at: .zero) == .admit)
    }

    @Test func `returns how long to wait, then admits one call`() {
        var breaker = Self.opened()
        #expect(breaker.admit(at: .milliseconds(500)) == .refuse(retryAfter: .milliseconds(1500)))
        #expect(breaker.admit(at: CircuitBreaker.shortestPause) == .probe)
        #expect(
            breaker.admit(at: CircuitBreaker.shortestPause)
                == .refuse(retryAfter: CircuitBreaker.shortestPause))
    }

    @Test func `closes when the probe is answered`() {
        var breaker = Self.opened()
        let probe = breaker.admit(at: .seconds(2))
        breaker.end(probe, .answered, at: .seconds(3))
        #expect(breaker.isClosed)
        for _ in 1..<CircuitBreaker.threshold { Self.fail(&breaker, at: .seconds(3)) }
        #expect(breaker.admit(at: .seconds(3)) == .admit)
    }

    @Test func `each failed probe doubles the pause, up to half a minute`() {
        var breaker = Self.opened()
        var now = Duration.seconds(2)
        for pause in [4, 8, 16, 30, 30, 30] {
            #expect(breaker.admit(at: now) == .probe)
            breaker.end(.probe, .failed, at: now)
            #expect(breaker.admit(at: now) == .refuse(retryAfter: .seconds(pause)))
            now += .seconds(pause)
        }
    }

    @Test func `after an abandoned probe, the next caller probes`() {
        var breaker = Self.opened()
        #expect(breaker.admit(at: .seconds(2)) == .probe)
        breaker.end(.probe, .abandoned, at: .seconds(3))
        #expect(breaker.admit(at: .seconds(3)) == .probe)
    }

    @Test func `a probe that never ends is ignored after a while`() {
        var breaker = Self.opened()
        #expect(breaker.admit(at: .seconds(2)) == .probe)
        #expect(breaker.admit(at: .seconds(61)) != .probe)
        #expect(breaker.admit(at: .seconds(62)) == .probe)
    }

    @Test(arguments: [CircuitBreaker.Outcome.answered, .failed, .abandoned])
    func `calls that began before it opened change nothing`(ending: CircuitBreaker.Outcome) {
        var breaker = Self.opened()
        let before = breaker
        breaker.end(.admit, ending, at: .seconds(1))
        #expect(breaker == before)
        #expect(breaker.admit(at: .seconds(2)) == .probe)
        let probing = breaker
        breaker.end(.admit, ending, at: .seconds(3))
        #expect(breaker == probing)
    }
}
