import AuthorizationServer
import NIOHTTP1
import Synchronization

/// Counts requests by route and status, and measures their durations.
///
/// The initializer creates all cells, so that a request costs only four atomic additions and one lookup.
struct RequestMetrics: Sendable {
    private let rows: [ObjectIdentifier: Int]
    private let counts: [CounterCell]
    private let durations: [HistogramCell]
    let connections: GaugeCell

    /// The statuses that have their own series. The series of the last status also counts every other status.
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

/// Counts responses with an error code, by code.
///
/// This service declares all codes, so their number is bounded. The additional bound keeps a programming
/// mistake from creating unlimited series.
final class RefusalMetrics: Sendable {
    static let most = 192
    static let name = "siwa_http_refusals_total"

    private let registry: MetricsRegistry
    private let cells = Mutex<[String: CounterCell]>([:])

    init(_ registry: MetricsRegistry) {
        self.registry = registry
        for code in Self.declared { _ = cell(code) }
    }

    /// The codes that this service declares. Their series exist from the start, so that a rate includes the
    /// first refusal.
    private static let declared =
        ProblemType.all.map(\.code) + OAuthError.Code.allCases.map(\.rawValue)

    func count(_ code: String) { cell(code).increment(by: 1) }

    private func cell(_ code: String) -> CounterCell {
        cells.withLock { cells in
            let code = cells[code] != nil || cells.count < Self.most ? code : "other"
            if let cell = cells[code] { return cell }
            let cell = registry.counter(
                Self.name, [("code", code)], help: "Responses with an error code by code.")
            cells[code] = cell
            return cell
        }
    }
}

/// Counts requests by the caller that the request names: an API key, or an OAuth client as `client:ID`. The
/// initializer creates the counters of all configured callers, so that no request can add a series.
///
/// Also counts unauthenticated requests that name an OAuth client, so that operators can find clients that
/// keep sending a wrong secret.
struct CallerMetrics: Sendable {
    private struct Cells {
        let answered: CounterCell
        let refused: CounterCell
    }

    static let name = "siwa_http_caller_requests_total"
    /// Label for requests that name no caller.
    static let none = "none"

    private let callers: [String: Cells]
    private let clients: [String: Cells]
    private let others: Cells
    private let anonymous: Cells

    /// - Parameters:
    ///   - callers: The names of the API keys.
    ///   - clients: The labels of OAuth clients; `nil` if there are no clients.
    init(_ registry: MetricsRegistry, callers: [String], clients: ClientLabels?) {
        func cells(_ caller: String) -> Cells {
            func cell(_ result: String) -> CounterCell {
                registry.counter(
                    Self.name, [("caller", caller), ("result", result)],
                    help: "Requests by the API key or OAuth client that they name, and by result.")
            }
            return Cells(answered: cell("answered"), refused: cell("refused"))
        }
        // The metrics reader has its own label, because its scrapes, if counted as `none`, would hide
        // requests without a key.
        let callers = callers + [CallerDirectory.metricsName]
        self.callers = Dictionary(callers.map { ($0, cells($0)) }, uniquingKeysWith: { first, _ in first })
        let labels = clients?.all.filter { $0 != ClientLabels.none } ?? []
        self.clients = Dictionary(uniqueKeysWithValues: labels.map { ($0, cells("client:\($0)")) })
        anonymous = cells(Self.none)
        others = self.clients[ClientLabels.other] ?? anonymous
    }

    /// - Parameters:
    ///   - caller: The name of the API key.
    ///   - client: The ID of a configured OAuth client.
    func count(caller: String?, client: String?, isRefused: Bool) {
        var cells = anonymous
        if let caller {
            cells = callers[caller] ?? anonymous
        } else if let client {
            cells = clients[client] ?? others
        }
        (isRefused ? cells.refused : cells.answered).increment(by: 1)
    }
}
