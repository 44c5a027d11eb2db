/// Writes the text exposition format of Prometheus, version 0.0.4.
struct MetricsText {
    private(set) var bytes: [UInt8] = []

    /// - Parameter help: Without line breaks and backslashes, which would need an escape.
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

/// The help texts of metrics that are counted through swift-metrics, which has none.
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
