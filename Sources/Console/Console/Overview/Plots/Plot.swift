import AppleAccounts

/// A plot over time as values for the template `plot`, which is SVG with a table of the same numbers.
///
/// A line ends where there is no value, so that a missing number does not look like 0.
struct Plot: Sendable {
    enum Form: Sendable {
        case area
        /// Columns on top of each other, in the order of the series.
        case columns
        case lines
    }

    struct Line: Sendable {
        let label: String
        let value: @Sendable (NumberSeries.Counts) -> Double?
        /// The number beside the label, of the whole time.
        let total: String
    }

    struct Mark: Sendable {
        let x: String
        let y: String
        let label: String
    }

    struct Shape: Sendable {
        let style: String
        let path: String
    }

    struct Key: Sendable {
        let style: String
        let label: String
        let total: String
    }

    struct Row: Sendable {
        let time: String
        let cells: [String]
    }

    let id: String
    let title: String
    let description: String
    let isEmpty: Bool
    let marks: [Mark]
    let times: [Mark]
    let areas: [Shape]
    let lines: [Shape]
    let columns: [Shape]
    let keys: [Key]
    let heads: [String]
    let rows: [Row]
    let width = PlotFrame.width
    let height = PlotFrame.height
    let left = PlotFrame.left
    let right = PlotFrame.right
    let base = PlotFrame.bottom

    init(
        id: String, title: String, unit: String, form: Form, lines series: [Line], period: PlotPeriod,
        points: [PlotPoint]
    ) {
        let values = series.map { line in points.map { line.value($0.counts) } }
        let sums = points.indices.map { index in values.reduce(0) { $0 + ($1[index] ?? 0) } }
        let largest =
            switch form {
            case .columns: sums.max() ?? 0
            case .area, .lines: values.flatMap { $0 }.compactMap { $0 }.max() ?? 0
            }
        let scale = PlotScale(upTo: largest, isWhole: form != .lines)
        let frame = PlotFrame(count: points.count, top: scale.top)
        (self.id, self.title) = (id, title)
        isEmpty = values.allSatisfy { $0.allSatisfy { ($0 ?? 0) == 0 } }
        description = Self.description(series, unit, period, isEmpty: isEmpty)
        marks = scale.marks.map { mark in
            Mark(
                x: PlotNumber.coordinate(Double(PlotFrame.left) - 6), y: PlotNumber.coordinate(frame.y(mark)),
                label: PlotNumber.text(mark))
        }
        times = points.indices.compactMap { index in
            period.label(at: points[index].begin).map {
                Mark(x: PlotNumber.coordinate(frame.x(index)), y: String(PlotFrame.height - 6), label: $0)
            }
        }
        let styles = series.indices.map { "s\($0 % 5 + 1)" }
        keys = zip(series, styles).map { Key(style: $1, label: $0.label, total: $0.total) }
        areas = form == .area ? zip(values, styles).map { Shape(style: $1, path: frame.area($0)) } : []
        lines =
            form == .columns ? [] : zip(values, styles).map { Shape(style: $1, path: frame.line($0)) }
        columns = form == .columns ? Self.columns(values, styles, frame) : []
        heads = series.map { unit.isEmpty ? $0.label : "\($0.label) (\(unit))" }
        rows = period.rows(of: points).reversed().map { row in
            Row(
                time: period.text(of: row.begin),
                cells: series.map { line in line.value(row.counts).map(PlotNumber.text) ?? "–" })
        }
    }

    private static func description(
        _ series: [Line], _ unit: String, _ period: PlotPeriod, isEmpty: Bool
    ) -> String {
        guard !isEmpty else { return "\(period.words): nothing." }
        let parts = series.map { "\($0.label) \($0.total)" }.joined(separator: ", ")
        return "\(period.words): \(parts). The table below has the numbers."
    }

    private static func columns(
        _ values: [[Double?]], _ styles: [String], _ frame: PlotFrame
    ) -> [Shape] {
        var floor = [Double](repeating: 0, count: values.first?.count ?? 0)
        return zip(values, styles).map { line, style in
            let ceiling = zip(floor, line).map { $0 + ($1 ?? 0) }
            defer { floor = ceiling }
            return Shape(style: style, path: frame.columns(from: floor, to: ceiling))
        }
    }
}

/// The counts of one minute or hour.
struct PlotPoint: Sendable {
    let begin: Moment
    let counts: NumberSeries.Counts
}
