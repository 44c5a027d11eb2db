import Metrics

/// The results of daily checks.
struct CheckMetrics: Sendable {
    enum Result: String, CaseIterable {
        case valid, rejected, unknown, throttled
        case notAsked = "not_asked"
        case refusedUs = "client_rejected"
        case unreadable = "sealed_unreadable"
        case notStored = "not_stored"
    }

    private let counters = Dictionary(
        uniqueKeysWithValues: Result.allCases.map {
            ($0, Counter(label: "siwa_apple_checks", dimensions: [("result", $0.rawValue)]))
        })

    func count(_ result: Result) {
        counters[result]?.increment()
    }
}
