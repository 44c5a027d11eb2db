package import Metrics

/// A factory that takes the help texts of metrics, which swift-metrics does not have.
package protocol DescribedMetricsFactory: MetricsFactory {
    /// - Parameter label: As in swift-metrics, without the suffix that the exposition format adds.
    func describeCounter(_ label: String, help: String)

    /// - Parameter label: As in swift-metrics.
    func describeMeter(_ label: String, help: String)
}
