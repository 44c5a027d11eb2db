import Metrics

/// Measures requests to Apple and to Google, from the call to the end of the response, failures included.
enum OutgoingRequestTime {
    /// - Parameter url: One of the configured endpoints. The last part of its path is the label, so the label
    ///   has as many values as there are endpoints.
    static func record(_ url: String, since start: ContinuousClock.Instant) {
        let path = url.prefix { $0 != "?" }
        let endpoint = path.split(separator: "/").last.map(String.init) ?? ""
        Timer(label: "siwa_outgoing_request", dimensions: [("endpoint", endpoint)])
            .recordNanoseconds(Int64((ContinuousClock.now - start) / .nanoseconds(1)))
    }
}
