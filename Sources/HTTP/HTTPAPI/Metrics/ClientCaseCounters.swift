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
