import Testing

@testable import HTTPAPI

@Suite struct RequestSamplerTests {
    static func kind(_ name: String) -> RequestSampler.Kind {
        RequestSampler.Kind(status: 401, name: name)
    }

    /// Number of logged requests out of this many.
    static func logged(_ count: Int, _ name: String, _ sampler: inout RequestSampler) -> Int {
        var logged = 0
        for _ in 0..<count where sampler.count(kind(name)) { logged += 1 }
        return logged
    }

    @Test func `lets the first few through, and sums up the rest when the second is over`() {
        var sampler = RequestSampler()
        #expect(sampler.advance(to: 1000) == [])
        #expect(Self.logged(10_000, "a", &sampler) == 3)
        #expect(sampler.advance(to: 1999) == [])
        #expect(sampler.advance(to: 2000) == [.init(kind: Self.kind("a"), count: 10_000)])
        #expect(sampler.advance(to: 3000) == [])
    }

    @Test func `says nothing more about what was logged singly`() {
        var sampler = RequestSampler()
        #expect(sampler.advance(to: 0) == [])
        #expect(Self.logged(3, "a", &sampler) == 3)
        #expect(sampler.finish() == [])
    }

    @Test func `bounds the lines of a second also over all kinds`() {
        var sampler = RequestSampler()
        #expect(sampler.advance(to: 0) == [])
        var logged = 0
        for number in 0..<100 { logged += Self.logged(10, "\(number)", &sampler) }
        #expect(logged == 12)
        let summaries = sampler.finish()
        #expect(summaries.count == 100)
    }

    @Test func `begins again in each second, and when the clock was set back`() {
        var sampler = RequestSampler()
        for now: Int64 in [0, 1000, 5000, 2000, 3000] {
            _ = sampler.advance(to: now)
            #expect(Self.logged(10, "a", &sampler) == 3)
        }
    }
}
