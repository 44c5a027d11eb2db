/// The collector that gets the spans of this service, and which of them it gets.
struct TraceSettings: Sendable, Equatable {
    /// The address with its path `/v1/traces`.
    let url: String
    /// Fields of each request, such as the key of a hosted collector.
    let headers: [String: String]
    /// Share of new traces that are recorded.
    let ratio: Double
    /// `service.name`.
    let service: String
}
