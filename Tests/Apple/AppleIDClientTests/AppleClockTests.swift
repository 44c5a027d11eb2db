import AsyncHTTPClient
import Encodings
import ScriptedHTTP
import Synchronization
import TestSupport
import Testing

@testable import AppleIDClient

@Suite struct AppleClockTests {
    static let start: Int64 = 1_795_480_000

    /// A machine whose clock can be set, and whose uptime nothing changes.
    final class Machine: Sendable {
        private let clock = Mutex(start * 1000)
        private let uptime = Mutex(Duration.seconds(100))

        func set(byMilliseconds difference: Int64) { clock.withLock { $0 += difference } }

        func pass(_ seconds: Int64) {
            set(byMilliseconds: seconds * 1000)
            uptime.withLock { $0 += .seconds(seconds) }
        }

        func makeClock() -> AppleClock {
            AppleClock(
                millisecondsSince1970: { self.clock.withLock { $0 } },
                uptime: { self.uptime.withLock { $0 } })
        }
    }

    static let date = HTTPDate.text(secondsSince1970: start)

    @Test func `nothing is known before Apple has answered`() {
        let clock = Machine().makeClock()
        #expect(clock.secondsAhead == nil)
        clock.notice(date: nil, age: nil)
        clock.notice(date: "yesterday", age: nil)
        #expect(clock.secondsAhead == nil)
    }

    @Test func `a clock that is set wrong shows at once, also between two answers of Apple`() {
        let machine = Machine()
        let clock = machine.makeClock()
        clock.notice(date: Self.date, age: nil)
        #expect(clock.secondsAhead == 0)
        machine.pass(3600)
        #expect(clock.secondsAhead == 0)
        machine.set(byMilliseconds: -120_000)
        #expect(clock.secondsAhead == -120)
        machine.pass(86_400)
        #expect(clock.secondsAhead == -120)
        machine.set(byMilliseconds: 720_000)
        #expect(clock.secondsAhead == 600)
        clock.notice(date: HTTPDate.text(secondsSince1970: Self.start + 90_000), age: nil)
        #expect(clock.secondsAhead == 600)
    }

    @Test(
        arguments: [("30", -30), (nil, 0), ("-5", 0), ("x", 0), ("99999999999999999999", 0)]
            as [(String?, Int64)])
    func `an answer from a cache is as old as it says`(age: String?, ahead: Int64) {
        let clock = Machine().makeClock()
        clock.notice(date: Self.date, age: age)
        #expect(clock.secondsAhead == ahead)
    }

    @Test(arguments: [
        "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Sun, 06 Nov 1994 08:49:37 GMT",
    ])
    func `no date ends the process`(date: String) {
        let clock = Machine().makeClock()
        clock.notice(date: date, age: "604800")
        #expect(clock.secondsAhead != nil)
    }

    @Test(.timeLimit(.hung)) func `the answer with the key set tells the time, at any status`() async throws {
        let server = try await ScriptedServer(
            always: .send("HTTP/1.1 503 Unavailable\r\nDate: \(Self.date)\r\nContent-Length: 0\r\n\r\n"))
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: .apple())
        let clock = Machine().makeClock()
        let endpoints = try #require(AppleEndpoints(baseURL: server.baseURL))
        _ = try? await HTTPKeySetSource(client: client, endpoints: endpoints, clock: clock)
            .fetch(ifNoneMatch: nil)
        try await client.shutdown()
        try await server.close()
        #expect(clock.secondsAhead == 0)
    }
}

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
