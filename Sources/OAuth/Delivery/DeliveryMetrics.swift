import Metrics

/// The results of deliveries of security event tokens to Google.
struct DeliveryMetrics: Sendable {
    enum Result: String, CaseIterable {
        case delivered
        /// The delivery failed and is tried again.
        case failed
        /// The delivery was not accepted within seven days.
        case abandoned
    }

    private let counters = Dictionary(
        uniqueKeysWithValues: Result.allCases.map {
            ($0, Counter(label: "siwa_google_events_sent", dimensions: [("result", $0.rawValue)]))
        })

    func count(_ result: Result) {
        counters[result]?.increment()
    }
}
