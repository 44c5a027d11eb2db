import AppleAccounts
import StorageConformance
import TestSupport
import Testing

@testable import SignIn

@Suite struct CheckPaceTests {
    var generator = SeededGenerator(seed: 1)
    var pace = CheckPace(perSecond: 10, at: 0)

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
        pace.throttled(at: 0, using: &generator)
        pace.throttled(at: 0, using: &generator)
        #expect(pace.wait(for: 1, at: 0) == .zero)
        pace.reached("a")
        pace.throttled(at: 0, using: &generator)
        pace.throttled(at: 0, using: &generator)
        #expect(pace.admit(upTo: 1, at: 0) == 1)
        pace.throttled(at: 0, using: &generator)
        #expect(pace.admit(upTo: 1, at: 0) == 0)
        #expect(pace.wait(for: 1, at: 0) >= .seconds(5))
    }

    @Test mutating func `is not stopped for days by a clock that was set back`() {
        _ = pace.missed(at: 1_000_000_000, using: &generator)
        _ = pace.refused("a", at: 1_000_000_000)
        #expect(pace.wait(for: 1, at: 0) == .zero)
        #expect(pace.rest(of: "a", at: 0) == nil)
    }
}
