/// One number of a metric, for the console.
package struct MetricReading: Sendable, Equatable {
    /// The label of a bucket's upper bound.
    package static let bound = "le"
    /// The bound of the last bucket.
    package static let noBound = "+Inf"

    package let labels: [String: String]
    package let value: Double

    package init(labels: [String: String], value: Double) {
        (self.labels, self.value) = (labels, value)
    }
}
