package import Metrics

/// A counter for each result of a worker, made at the start, so that a result that never came is 0.
package struct ResultCounters<WorkResult: CountedResult>: Sendable {
    private let counters: [WorkResult: Counter]

    package init(_ label: String, help: String, factory: any MetricsFactory = MetricsSystem.factory) {
        (factory as? any DescribedMetricsFactory)?.describeCounter(label, help: help)
        counters = Dictionary(
            uniqueKeysWithValues: WorkResult.allCases.map { result in
                (result, Counter(label: label, dimensions: [("result", result.label)], factory: factory))
            })
    }

    package func count(_ result: WorkResult) {
        counters[result]?.increment()
    }
}
