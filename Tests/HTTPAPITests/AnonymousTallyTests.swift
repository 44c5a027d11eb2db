import Testing

@testable import HTTPAPI

@Suite struct AnonymousTallyTests {
    static func kind(_ name: String) -> AnonymousTally.Kind { AnonymousTally.Kind(status: 401, name: name) }

    /// How many of so many are logged.
    static func logged(_ count: Int, _ name: String, _ tally: inout AnonymousTally) -> Int {
        var logged = 0
        for _ in 0..<count where tally.count(kind(name)) { logged += 1 }
        return logged
    }

    @Test func `lets the first few through, and sums up the rest when the second is over`() {
        var tally = AnonymousTally()
        #expect(tally.advance(to: 1000) == [])
        #expect(Self.logged(10_000, "a", &tally) == 3)
        #expect(tally.advance(to: 1999) == [])
        #expect(tally.advance(to: 2000) == [.init(kind: Self.kind("a"), count: 10_000, beganAt: 1000)])
        #expect(tally.advance(to: 3000) == [])
    }

    @Test func `says nothing more about what was logged singly`() {
        var tally = AnonymousTally()
        #expect(tally.advance(to: 0) == [])
        #expect(Self.logged(3, "a", &tally) == 3)
        #expect(tally.finish() == [])
    }

    @Test func `bounds the lines of a second also over all kinds`() {
        var tally = AnonymousTally()
        #expect(tally.advance(to: 0) == [])
        var logged = 0
        for number in 0..<100 { logged += Self.logged(10, "\(number)", &tally) }
        #expect(logged == 12)
        let summaries = tally.finish()
        #expect(summaries.count == 100)
    }

    @Test func `begins again in each second, and when the clock was set back`() {
        var tally = AnonymousTally()
        for now: Int64 in [0, 1000, 5000, 2000, 3000] {
            _ = tally.advance(to: now)
            #expect(Self.logged(10, "a", &tally) == 3)
        }
    }
}
