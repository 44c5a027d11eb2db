public import CoreMetrics
import SignIn
import Synchronization

/// All metrics of the process, and their text for Prometheus (exposition format 0.0.4).
///
/// Implements the metrics factory of swift-metrics, so that it also contains the metrics of libraries. Code
/// on the hot path requests a cell once and stores it.
public final class MetricsRegistry: MetricsFactory {
    enum Cell {
        case counter(CounterCell)
        case gauge(GaugeCell)
        /// A counter that is set instead of incremented, because its value is measured elsewhere.
        case total(GaugeCell)
        case histogram(HistogramCell)
    }

    struct Series {
        let labels: [(String, String)]
        let cell: Cell
    }

    private struct Family {
        var help = ""
        var series: [Series] = []
        /// The index in `series` for each list of labels (name, value, name, value ...). A service creates a
        /// few thousand series at startup, so a linear search would be too slow.
        var positions: [[String]: Int] = [:]

        mutating func cell(
            _ labels: [(String, String)], key: [String], help: String, make: () -> Cell
        ) -> Cell {
            if !help.isEmpty { self.help = help }
            if let position = positions[key] { return series[position].cell }
            let cell = make()
            positions[key] = series.count
            series.append(Series(labels: labels, cell: cell))
            return cell
        }
    }

    private struct Families {
        var byName: [String: Family] = [:]
        var refreshes: [@Sendable () -> Void] = []
    }

    private let families = Mutex(Families())

    public init() {}

    /// Returns the counter with a name and labels. Every call with the same arguments returns the same cell.
    func counter(_ name: String, _ labels: [(String, String)] = [], help: String = "") -> CounterCell {
        let cell = cell(name, labels, help: help) { .counter(CounterCell()) }
        if case .counter(let counter) = cell { return counter }
        return CounterCell()
    }

    func gauge(_ name: String, _ labels: [(String, String)] = [], help: String = "") -> GaugeCell {
        let cell = cell(name, labels, help: help) { .gauge(GaugeCell()) }
        if case .gauge(let gauge) = cell { return gauge }
        return GaugeCell()
    }

    /// Returns a counter that can hold fractions and whose value is measured elsewhere.
    func total(_ name: String, _ labels: [(String, String)] = [], help: String) -> GaugeCell {
        let cell = cell(name, labels, help: help) { .total(GaugeCell()) }
        if case .total(let total) = cell { return total }
        return GaugeCell()
    }

    func histogram(
        _ name: String, _ labels: [(String, String)] = [], bounds: [Int64], scale: Double = 1,
        help: String = ""
    ) -> HistogramCell {
        let cell = cell(name, labels, help: help) { .histogram(HistogramCell(bounds: bounds, scale: scale)) }
        if case .histogram(let histogram) = cell { return histogram }
        return HistogramCell(bounds: bounds, scale: scale)
    }

    /// Sets the help text of a metric that was created without a help text.
    func describe(_ name: String, help: String) {
        families.withLock { $0.byName[name, default: Family()].help = help }
    }

    /// Calls `refresh` before each scrape, to update values that are sampled instead of counted.
    func beforeReading(_ refresh: @escaping @Sendable () -> Void) {
        families.withLock { $0.refreshes.append(refresh) }
    }

    /// Returns all metrics in text format, sorted by name, so that two scrapes can be compared.
    package func text() -> [UInt8] {
        for refresh in families.withLock({ $0.refreshes }) { refresh() }
        let byName = families.withLock { $0.byName }
        var text = MetricsText()
        for (name, family) in byName.sorted(by: { $0.key < $1.key }) {
            text.family(
                name, help: family.help.isEmpty ? LibraryMetricsHelp.text(for: name) : family.help,
                family.series)
        }
        return text.bytes
    }

    /// Returns the current values of a metric's counters and gauges, for the operator pages.
    package func values(of name: String) -> [(labels: [(name: String, value: String)], value: Double)] {
        for refresh in families.withLock({ $0.refreshes }) { refresh() }
        let series = families.withLock { $0.byName[name]?.series ?? [] }
        return series.compactMap { series in
            let labels = series.labels.map { (name: $0.0, value: $0.1) }
            return switch series.cell {
            case .counter(let cell): (labels, Double(cell.value))
            case .gauge(let cell), .total(let cell): (labels, cell.value)
            case .histogram: nil
            }
        }
    }

    /// Returns the current values of a metric, each with its labels. A histogram returns one value for each
    /// bucket, with the bucket's upper bound in the recorded unit as the `le` label. Does not call `refresh`.
    package func readings(of name: String) -> [MetricReading] {
        let series = families.withLock { $0.byName[name]?.series ?? [] }
        return series.flatMap { series -> [MetricReading] in
            let labels = Dictionary(series.labels) { first, _ in first }
            switch series.cell {
            case .counter(let counter): return [MetricReading(labels: labels, value: Double(counter.value))]
            case .gauge(let cell), .total(let cell):
                return [MetricReading(labels: labels, value: cell.value)]
            case .histogram(let histogram):
                let bounds = histogram.bounds.map(String.init) + [MetricReading.noBound]
                return zip(bounds, histogram.counts).map { bound, count in
                    MetricReading(
                        labels: labels.merging([MetricReading.bound: bound]) { $1 }, value: Double(count))
                }
            }
        }
    }

    private func cell(
        _ name: String, _ labels: [(String, String)], help: String, make: () -> Cell
    ) -> Cell {
        let key = labels.flatMap { [$0.0, $0.1] }
        return families.withLock { families in
            families.byName[name, default: Family()].cell(labels, key: key, help: help, make: make)
        }
    }

    // The conformance to MetricsFactory. Names in swift-metrics can contain dots and dashes.

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        counter(Self.totalName(label), dimensions)
    }

    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        RoundingCounter(counter(Self.totalName(label), dimensions))
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(Self.name(label), dimensions)
    }

    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        histogram(Self.name(label), dimensions, bounds: HistogramCell.sizes)
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let name = Self.name(label)
        return histogram(
            name.hasSuffix("_seconds") ? name : name + "_seconds", dimensions,
            bounds: HistogramCell.latencies,
            scale: 1e-9)
    }

    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}

    static func totalName(_ label: String) -> String {
        let name = name(label)
        return name.hasSuffix("_total") ? name : name + "_total"
    }

    private static func name(_ label: String) -> String {
        let name = String(
            label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") ? $0 : "_" })
        // The exposition format does not allow a name to begin with a digit.
        return name.first?.isNumber != false ? "_" + name : name
    }
}

extension MetricsRegistry: DescribedMetricsFactory {
    package func describeCounter(_ label: String, help: String) {
        describe(Self.totalName(label), help: help)
    }

    package func describeMeter(_ label: String, help: String) {
        describe(label, help: help)
    }
}

/// One value of a metric, for the console.
package struct MetricReading: Sendable, Equatable {
    /// The label that contains a bucket's upper bound.
    package static let bound = "le"
    /// The upper bound of the last bucket.
    package static let noBound = "+Inf"

    package let labels: [String: String]
    package let value: Double
}

/// Writes Prometheus' text exposition format, version 0.0.4.
struct MetricsText {
    private(set) var bytes: [UInt8] = []

    /// - Parameter help: Must not contain line breaks or backslashes, which would need escapes.
    mutating func family(_ name: String, help: String, _ series: [MetricsRegistry.Series]) {
        line("# HELP \(name) \(help)")
        switch series.first?.cell {
        case .counter, .total: line("# TYPE \(name) counter")
        case .gauge: line("# TYPE \(name) gauge")
        case .histogram: line("# TYPE \(name) histogram")
        case nil: return
        }
        for series in series { self.series(name, series) }
    }

    private mutating func series(_ name: String, _ series: MetricsRegistry.Series) {
        let labels = series.labels
        switch series.cell {
        case .counter(let counter): sample(name, labels, "\(counter.value)")
        case .gauge(let cell), .total(let cell): sample(name, labels, Self.number(cell.value))
        case .histogram(let histogram):
            let reading = histogram.reading
            let bounds = histogram.bounds.map { Self.number(Double($0) * histogram.scale) } + ["+Inf"]
            for (bound, count) in zip(bounds, reading.cumulative) {
                sample(name + "_bucket", labels + [("le", bound)], "\(count)")
            }
            sample(name + "_sum", labels, Self.number(reading.sum))
            sample(name + "_count", labels, "\(reading.cumulative.last ?? 0)")
        }
    }

    private mutating func sample(_ name: String, _ labels: [(String, String)], _ value: String) {
        guard !labels.isEmpty else { return line("\(name) \(value)") }
        let list = labels.map { "\($0.0)=\"\(Self.escape($0.1))\"" }.joined(separator: ",")
        line("\(name){\(list)} \(value)")
    }

    private mutating func line(_ text: String) {
        bytes.append(contentsOf: text.utf8)
        bytes.append(UInt8(ascii: "\n"))
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    private static func escape(_ value: String) -> String {
        var escaped = ""
        for character in value {
            switch character {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}

/// Help texts for metrics that libraries create through swift-metrics, which does not support help texts.
enum LibraryMetricsHelp {
    static func text(for name: String) -> String {
        texts[name] ?? "Counted by a library. See its documentation."
    }

    private static let texts = [
        "siwa_storage_commits_total": "Transactions of the group commit by result.",
        "siwa_storage_commands_total": "Commands in these transactions by result.",
        "siwa_storage_commit_seconds": "From the beginning of a transaction to its commit.",
        "siwa_storage_failures_total": "Reads and transactions that the database failed, by cause.",
        "siwa_storage_errors_total":
            "Reads and transactions that the database failed, by SQLSTATE or by SQLite's extended result code.",
        "siwa_outgoing_request_seconds":
            "From a request to Apple, Google or a receiver to the end of its response, by endpoint.",
        "siwa_oauth_commits_total": "Transactions about OAuth grants by result.",
        "siwa_oauth_commands_total": "Commands in these transactions by result.",
        "siwa_oauth_commit_seconds": "From the beginning of such a transaction to its commit.",
    ]
}
