import NIOHTTP1

/// Counts requests by route and status, and measures their durations.
///
/// All cells are made at the start, so that a request costs four atomic additions and one lookup.
struct RequestMetrics: Sendable {
    private let rows: [ObjectIdentifier: Int]
    private let counts: [CounterCell]
    private let durations: [HistogramCell]
    let connections: GaugeCell

    /// Every status that a response can have. The last status also counts any other.
    static let statuses: [UInt] = [
        200, 201, 202, 303, 304, 400, 401, 403, 404, 405, 408, 409, 413, 415, 431, 500, 503,
    ]

    init(_ registry: MetricsRegistry) {
        let endpoints = Endpoint.all.enumerated().map { (ObjectIdentifier($1), $0) }
        rows = Dictionary(uniqueKeysWithValues: endpoints)
        let routes = Endpoint.all.map(\.path.description) + ["none"]
        counts = routes.flatMap { route in
            Self.statuses.map { status in
                registry.counter(
                    "siwa_http_requests_total", [("route", route), ("status", String(status))],
                    help: "Responses by route and status.")
            }
        }
        durations = routes.map { route in
            registry.histogram(
                "siwa_http_request_duration_seconds", [("route", route)], bounds: HistogramCell.latencies,
                scale: 1e-9, help: "From the end of the request's header to the response.")
        }
        connections = registry.gauge("siwa_http_connections", help: "Open client connections.")
    }

    func record(_ endpoint: Endpoint?, _ status: HTTPResponseStatus, nanoseconds: Int64) {
        let row = endpoint.flatMap { rows[ObjectIdentifier($0)] } ?? rows.count
        let column = Self.statuses.firstIndex(of: status.code) ?? Self.statuses.count - 1
        counts[row * Self.statuses.count + column].increment(by: 1)
        durations[row].record(nanoseconds)
    }
}
