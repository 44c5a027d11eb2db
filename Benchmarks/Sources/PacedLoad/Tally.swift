/// Counts the outcomes of all requests.
struct Tally {
    /// Latencies of the 2xx responses, and waiting times of the requests that were never sent, in
    /// microseconds.
    private var latencies: [UInt32] = []
    /// Number of 2xx responses.
    private var succeeded = 0
    /// Number of 2xx responses that arrived before the end of the schedule.
    private var inTime = 0
    /// Number of 503 responses.
    private var shed = 0
    /// Number of all other responses.
    private var refused = 0
    /// Number of requests whose connection broke, or that got no response in time.
    var failed = 0
    /// Number of requests that were due but found no free connection before the end.
    private var unsent = 0

    mutating func count(status: Int, latency: Int64, isInTime: Bool) {
        switch status {
        case 200..<300:
            succeeded += 1
            if isInTime { inTime += 1 }
            latencies.append(UInt32(clamping: latency / 1000))
        case 503: shed += 1
        default: refused += 1
        }
    }

    mutating func countUnsent(waited latency: Int64) {
        unsent += 1
        latencies.append(UInt32(clamping: latency / 1000))
    }

    func json() -> String {
        let sorted = latencies.sorted()
        func percentile(_ share: Double) -> String {
            sorted.isEmpty ? "null" : "\(sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])"
        }
        return """
            {"succeeded": \(succeeded), "in_time": \(inTime), "shed": \(shed), "refused": \(refused), \
            "failed": \(failed), "unsent": \(unsent), "p50_us": \(percentile(0.5)), "p99_us": \(percentile(0.99))}
            """
    }
}
