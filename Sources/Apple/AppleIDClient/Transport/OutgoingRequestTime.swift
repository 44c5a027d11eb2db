import Metrics

/// Measures requests to other services, from the call to the end of the response, failures included.
public enum OutgoingRequestTime {
    /// The label of all deliveries to receivers of events. Their URLs can have secrets.
    public static let delivery = "delivery"

    /// - Parameter url: One of the configured endpoints. The last part of its path is the label, so the label
    ///   has as many values as there are endpoints.
    public static func record(_ url: String, since start: ContinuousClock.Instant) {
        let path = url.prefix { $0 != "?" }
        record(endpoint: path.split(separator: "/").last.map(String.init) ?? "", since: start)
    }

    /// - Parameter endpoint: A word of this service. Each is a series of its own.
    public static func record(endpoint: String, since start: ContinuousClock.Instant) {
        Timer(label: "siwa_outgoing_request", dimensions: [("endpoint", endpoint)])
            .recordNanoseconds(Int64((ContinuousClock.now - start) / .nanoseconds(1)))
    }
}
