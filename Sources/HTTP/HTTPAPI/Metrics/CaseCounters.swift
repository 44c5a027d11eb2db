import AppleAccounts
import AuthorizationServer

/// A type whose cases are the values of a metric label. The number of cases bounds the number of series.
protocol CountedCase: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
    static var series: CountedSeries { get }
}

/// Name, label and help text of a metric that counts the cases of a `CountedCase`.
struct CountedSeries: Sendable {
    let name: String
    let label: String
    let help: String

    init(_ name: String, label: String, help: String) {
        (self.name, self.label, self.help) = (name, label, help)
    }
}

/// A counter for each case. The initializer creates all counters, so that every series starts at 0.
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

/// A counter for each client label and each case. The initializer creates all counters, so that no request
/// can add a series.
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

    /// - Parameter client: The ID of a configured client; `nil` for a request without a configured client.
    func count(_ counted: Case, of client: String?) {
        cells[labels.label(of: client)]?[counted]?.increment(by: 1)
    }
}

/// Values of the `client` label in OAuth metrics: the IDs of the first 20 configured clients, `other` for
/// further clients, and `none` for requests without a configured client.
///
/// An unknown ID never becomes a label, so requests cannot add series.
struct ClientLabels: Sendable {
    /// Maximum number of clients with their own label.
    static let most = 20
    static let other = "other"
    static let none = "none"

    /// All labels without duplicates.
    let all: [String]
    private let own: Set<String>

    init(_ clients: [OAuthClient]) { self.init(ids: clients.map(\.id.rawValue)) }

    /// - Parameter ids: IDs of the configured clients without duplicates, in configuration order.
    init(ids: [String]) {
        let first = ids.prefix(Self.most).filter { $0 != Self.other && $0 != Self.none }
        own = Set(first)
        all = first + (ids.count > first.count ? [Self.other] : []) + [Self.none]
    }

    /// - Parameter id: The ID of a configured client; `nil` for a request without a configured client.
    func label(of id: String?) -> String {
        guard let id else { return Self.none }
        return own.contains(id) ? id : Self.other
    }
}
