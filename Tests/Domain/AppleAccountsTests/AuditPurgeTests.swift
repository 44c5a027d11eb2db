import StorageConformance
import Testing

@testable import AppleAccounts

/// The decision of one step, by the times of the oldest rows.
@Suite struct AuditPurgeTests {
    private static let (old, present, future) = (1000 as Moment, 50_000 as Moment, 900_000 as Moment)
    private static let full = AuditPurge.largestStep

    private static func rows(_ parts: (Int, Moment)...) -> [Moment] {
        parts.flatMap { Array(repeating: $0.1, count: $0.0) }
    }

    private static func step(_ oldest: [Moment], next: () throws -> Moment?) rethrows -> Int {
        try AuditPurge.step(oldest, before: 6000, at: 100_000, next: next)
    }

    /// Oldest rows, and the number of those that a step deletes.
    static let decided: [([Moment], Int)] = [
        ([], 0), ([old], 1), ([present, old], 0), ([future], 0), ([future, present, old], 0),
        ([future, old, future], 2), ([old, future, old, present, old], 3), (rows((full, old)), full),
        (rows((full - 1, old), (1, present)), full - 1), (rows((full - 1, future), (1, old)), full),
        (rows((full - 2, future), (1, old), (1, present)), full - 1),
        (rows((full - 1, future), (1, present)), 0), (rows((full - 1, future)), 0),
    ]

    @Test(arguments: decided)
    func `deletes up to the last old row before the first of the present`(oldest: [Moment], count: Int) {
        let decided = Self.step(oldest) {
            Issue.record("a search")
            return nil
        }
        #expect(decided == count)
    }

    @Test(arguments: [0, 1, 400])
    func `a full step that ends with rows of the future goes by the row behind them`(count: Int) {
        let oldest = Self.rows((count, Self.old), (Self.full - count, Self.future))
        for (next, decided) in [(Self.old, Self.full), (Self.present, count), (nil, count)]
            as [(Moment?, Int)]
        {
            let step = Self.step(oldest) { next }
            #expect(step == decided)
        }
    }

    @Test func `with a clock behind the log no row is old`() {
        let oldest = Self.rows((Self.full, Self.present))
        let step = AuditPurge.step(oldest, before: 0, at: 1000) { nil }
        #expect(step == 0)
    }
}
