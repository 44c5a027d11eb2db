/// Evenly spaced times at which requests are due.
struct Schedule {
    let rate: Double
    let start: Instant
    /// Total number of requests.
    let count: Int

    init(rate: Double, seconds: Double, start: Instant) {
        (self.rate, self.start) = (rate, start)
        count = Int(rate * seconds)
    }

    var end: Instant { moment(of: count) }

    func moment(of index: Int) -> Instant {
        Instant(nanoseconds: start.nanoseconds + Int64(Double(index) / rate * 1e9))
    }

    /// Returns the number of requests that are due by now.
    func due(at now: Instant) -> Int {
        min(count, Int(Double(now.nanoseconds - start.nanoseconds) / 1e9 * rate) + 1)
    }
}
