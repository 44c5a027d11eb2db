import AppleAccounts
import AuthorizationServer

/// The words of one label of a metric. The words are the cases
/// of the type, so that the number of series is bounded.
protocol CountedCase: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    static var series: CountedSeries { get }
}

/// The metric of a `CountedCase`.
struct CountedSeries: Sendable {
    let name: String
    let label: String
    let help: String

    init(_ name: String, label: String, help: String) {
        (self.name, self.label, self.help) = (name, label, help)
    }
}

/// A counter for each case. All are made at the start, so that a scrape shows each series from 0.
struct CaseCounters<Case: CountedCase>: Sendable {
    private let cells: [Case: CounterCell]

    init(_ registry: MetricsRegistry) {
        let series = Case.series
        cells = Dictionary(
            uniqueKeysWithValues: Case.allCases.map {
                ($0, registry.counter(series.name, [(series.label, $0.rawValue)], help: series.help))
            })
    }

    func count(_ counted: Case) {
        cells[counted]?.increment(by: 1)
    }
}

/// A counter for each label of a client and each case. All are made at the start, so that no request can add a
/// series.
struct ClientCaseCounters<Case: CountedCase>: Sendable {
    private let labels: ClientLabels
    private let cells: [String: [Case: CounterCell]]

    init(_ registry: MetricsRegistry, labels: ClientLabels) {
        self.labels = labels
        let series = Case.series
        cells = Dictionary(
            uniqueKeysWithValues: labels.all.map { client in
                let cells = Case.allCases.map { counted in
                    let cell = registry.counter(
                        series.name, [("client", client), (series.label, counted.rawValue)],
                        help: series.help)
                    return (counted, cell)
                }
                return (client, Dictionary(uniqueKeysWithValues: cells))
            })
    }

    /// - Parameter client: The ID of a configured client; `nil` for a request that names none.
    func count(_ counted: Case, of client: String?) {
        cells[labels.label(of: client)]?[counted]?.increment(by: 1)
    }
}

/// The values of the label `client` of metrics of OAuth: the IDs of the first 20 configured clients, `other` for
/// further clients, and `none` for requests that name no configured client.
///
/// An ID that is not configured never becomes a label, so that requests cannot add series.
struct ClientLabels: Sendable {
    /// Largest number of clients with their own label.
    static let most = 20
    static let other = "other"
    static let none = "none"

    /// All labels, each once.
    let all: [String]
    private let own: Set<String>

    init(_ clients: [OAuthClient]) { self.init(ids: clients.map(\.id.rawValue)) }

    /// - Parameter ids: Distinct, in the order of the configuration.
    init(ids: [String]) {
        let first = ids.prefix(Self.most).filter { $0 != Self.other && $0 != Self.none }
        own = Set(first)
        all = first + (ids.count > first.count ? [Self.other] : []) + [Self.none]
    }

    /// - Parameter id: The ID of a configured client, or `nil`.
    func label(of id: String?) -> String {
        guard let id else { return Self.none }
        return own.contains(id) ? id : Self.other
    }
}
