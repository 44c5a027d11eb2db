import AppleAccounts
import StorageConformance
import TestSupport
import Testing

@Suite struct LastWriterTests {
    @Test func `keeps the value of the later moment whichever comes first`() {
        let early = LastWriter("early", at: 1)
        let late = LastWriter("late", at: 2)
        #expect(early.merged(with: late) == late)
        #expect(late.merged(with: early) == late)
        #expect(late.merged(with: nil) == late)
    }

    @Test func `keeps the greater value of one moment`() {
        let enabled = LastWriter(EmailForwarding.enabled, at: 5)
        let disabled = LastWriter(EmailForwarding.disabled, at: 5)
        #expect(enabled.merged(with: disabled).value == .disabled)
        #expect(disabled.merged(with: enabled).value == .disabled)
    }

    @Test func `moves its moment when the same value is confirmed`() {
        let register = LastWriter("same", at: 1).merged(with: LastWriter("same", at: 9))
        #expect(register.moment == 9)
        #expect(register.merged(with: LastWriter("other", at: 5)).value == "same")
    }

    @Test func `tells addresses of different bytes apart`() {
        // Canonically equivalent: Swift's String calls them equal, the databases do not.
        let composed = LastWriter(EmailAddress.sample("caf\u{E9}@example.com"), at: 1)
        let decomposed = LastWriter(EmailAddress.sample("cafe\u{301}@example.com"), at: 1)
        #expect(composed != decomposed)
        #expect(composed.merged(with: decomposed) == decomposed.merged(with: composed))
    }

    @Test func `merges commutatively, associatively and idempotently`() {
        for seed in 0..<5000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            func register() -> LastWriter<Int> {
                LastWriter(
                    Int.random(in: 0...3, using: &generator),
                    at: Moment(milliseconds: Int64.random(in: 0...3, using: &generator)))
            }
            let (a, b, c) = (register(), register(), register())
            #expect(a.merged(with: b) == b.merged(with: a), "seed \(seed)")
            #expect(a.merged(with: b).merged(with: c) == a.merged(with: b.merged(with: c)), "seed \(seed)")
            #expect(a.merged(with: b).merged(with: b) == a.merged(with: b), "seed \(seed)")
            #expect(a.merged(with: a) == a, "seed \(seed)")
        }
    }

    @Test func `is the same after any order and number of writes`() {
        for seed in 0..<2000 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let writes = (0..<6).map { _ in
                LastWriter(
                    Int.random(in: 0...3, using: &generator),
                    at: Moment(milliseconds: Int64.random(in: 0...4, using: &generator)))
            }
            let expected = writes.max { ($0.moment, $0.value) < ($1.moment, $1.value) }
            let deliveries = (writes + writes.shuffled(using: &generator).prefix(3)).shuffled(
                using: &generator)
            let result = deliveries.dropFirst().reduce(deliveries[0]) { $0.merged(with: $1) }
            #expect(result == expected, "seed \(seed)")
        }
    }
}
