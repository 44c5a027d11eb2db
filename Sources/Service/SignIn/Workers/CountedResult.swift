/// The results of a worker, each counted apart.
package protocol CountedResult: Hashable, Sendable, CaseIterable {
    /// The label `result` of the metric.
    var label: String { get }
}

extension CountedResult where Self: RawRepresentable, RawValue == String {
    package var label: String { rawValue }
}
