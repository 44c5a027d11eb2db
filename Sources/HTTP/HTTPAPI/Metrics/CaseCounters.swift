/// The words of one label of a metric. The words are all cases, so that the metric has a bounded number of series.
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
