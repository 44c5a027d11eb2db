/// Results of the requests.
struct Tally {
    /// Microseconds: latencies of the responses 200 to 299, and waiting times of the requests that were never
    /// sent.
    private var latencies: [UInt32] = []
    /// Responses 200 to 299.
    private var succeeded = 0
    /// Responses 200 to 299 that came before the end.
    private var inTime = 0
    /// Responses 503.
    private var shed = 0
    /// Other responses.
    private var refused = 0
    /// Requests whose connection ended, or without a response in time.
    var failed = 0
    /// Requests that were due and found no free connection until the end.
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
