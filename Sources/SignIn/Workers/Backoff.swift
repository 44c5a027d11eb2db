/// How long to wait before the next attempt: doubling from the first to the longest, with up to a quarter
/// more by chance, so that what failed together is not tried together again.
struct Backoff: Sendable, Hashable {
    /// Milliseconds.
    let first: Int64
    /// Milliseconds, before chance.
    let longest: Int64

    init(first: Duration, longest: Duration) {
        self.first = max(first.wholeMilliseconds, 1)
        self.longest = max(longest.wholeMilliseconds, self.first)
    }

    /// Milliseconds to wait after so many attempts, counted from 1.
    func delay(after attempts: Int, using generator: inout some RandomNumberGenerator) -> Int64 {
        let shift = min(max(attempts, 1), 41) - 1
        // Without the check a doubling could pass the end of the range.
        let base = first > longest >> Int64(shift) ? longest : first << Int64(shift)
        return base + Int64.random(in: 0...base / 4, using: &generator)
    }

    func delay(after attempts: Int) -> Int64 {
        var generator = SystemRandomNumberGenerator()
        return delay(after: attempts, using: &generator)
    }
}
