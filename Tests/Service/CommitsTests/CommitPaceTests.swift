import Testing

@testable import Commits

@Suite struct CommitPaceTests {
    static let start = ContinuousClock.now

    static func at(_ milliseconds: Int) -> ContinuousClock.Instant {
        start + .milliseconds(milliseconds)
    }

    /// The pace after transactions of this many milliseconds, with a running transaction.
    static func pace(of milliseconds: Int) -> CommitPace {
        var pace = CommitPace()
        for _ in 0..<10 {
            pace.batchBegan(at: at(-milliseconds))
            pace.batchEnded(at: at(0))
        }
        pace.batchBegan(at: at(0))
        return pace
    }

    @Test(arguments: [
        (10, 7, CommitCapacity.available), (300, 5, .available), (300, 7, .exhausted), (1900, 0, .available),
        (1900, 1, .exhausted),
    ])
    func `goes by what waits and by what a transaction takes`(
        milliseconds: Int, batches: Int, expected: CommitCapacity
    ) {
        #expect(Self.pace(of: milliseconds).capacity(behind: batches, at: Self.at(1)) == expected)
    }

    @Test func `a transaction that takes longer than a caller should wait is no load`() {
        let pace = Self.pace(of: 10)
        #expect(pace.capacity(behind: 0, at: Self.at(1999)) == .available)
        #expect(pace.capacity(behind: 0, at: Self.at(2000)) == .stalled)
        #expect(pace.capacity(behind: 7, at: Self.at(2000)) == .stalled)
    }

    @Test func `is fast again as soon as transactions are`() {
        var pace = Self.pace(of: 1900)
        for round in 0..<6 {
            pace.batchEnded(at: Self.at(10 * round))
            pace.batchBegan(at: Self.at(10 * round))
        }
        #expect(pace.capacity(behind: 7, at: Self.at(61)) == .available)
    }

    @Test func `has nothing to say before the first transaction`() {
        #expect(CommitPace().capacity(behind: 0, at: Self.at(0)) == .available)
    }
}
