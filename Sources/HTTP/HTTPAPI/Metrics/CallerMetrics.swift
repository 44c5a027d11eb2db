/// Counts requests by the caller that they name: an API key, or an OAuth client as `client:ID`. Made at the
/// start for all configured callers, so that no request can add a series.
///
/// An OAuth client is named by requests that did not prove it too: a client that repeats a wrong secret is what
/// an operator looks for.
struct CallerMetrics: Sendable {
    private struct Cells {
        let answered: CounterCell
        let refused: CounterCell
    }

    static let name = "siwa_http_caller_requests_total"
    /// Requests that name no caller.
    static let none = "none"

    private let callers: [String: Cells]
    private let clients: [String: Cells]
    private let others: Cells
    private let anonymous: Cells

    /// - Parameters:
    ///   - callers: The names of the API keys.
    ///   - clients: The labels of OAuth clients; `nil` without any.
    init(_ registry: MetricsRegistry, callers: [String], clients: ClientLabels?) {
        func cells(_ caller: String) -> Cells {
            func cell(_ result: String) -> CounterCell {
                registry.counter(
                    Self.name, [("caller", caller), ("result", result)],
                    help: "Requests by the API key or OAuth client that they name, and by result.")
            }
            return Cells(answered: cell("answered"), refused: cell("refused"))
        }
        // The reader of the metrics is a caller too: as `none` its scrapes would hide requests without a key.
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
