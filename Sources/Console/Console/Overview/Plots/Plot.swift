import AppleAccounts
import Pages

/// A plot over time: SVG, with a table of the same numbers.
///
/// A line has a gap where a value is missing, so that a missing value does not look like 0.
struct Plot: PagePart {
    enum Form {
        case area
        /// Stacked columns, in the order of the series.
        case columns
        case lines
    }

    struct Line {
        let label: String
        let value: (NumberSeries.Counts) -> Double?
        /// The series' total for the whole period, shown next to its label.
        let total: String
    }

    let id: String
    let title: String
    var unit = ""
    let form: Form
    let lines: [Line]
    let period: PlotPeriod
    let points: [NumberSeries.Point]

    var html: HTML {
        let values = lines.map { line in points.map { line.value($0.counts) } }
        let isEmpty = values.allSatisfy { $0.allSatisfy { ($0 ?? 0) == 0 } }
        return HTML {
            """
            <figure class="card">
            <figcaption><h3 id="\(id)">\(title)</h3></figcaption>
            <svg class="plot" viewBox="0 0 \(PlotFrame.width) \(PlotFrame.height)" role="img" \
            aria-labelledby="\(id)-title \(id)-text">
            <title id="\(id)-title">\(title)</title>
            <desc id="\(id)-text">\(description(isEmpty: isEmpty))</desc>
            \(drawing(of: values))</svg>
            """
            if isEmpty { "<p class=\"muted\">Nothing in this time.</p>" }
            "<ul class=\"legend\">"
            for (index, line) in lines.enumerated() {
                """
                <li><svg class="plot swatch" viewBox="0 0 10 10" aria-hidden="true">\
                <path class="bar \(Self.look(index))" d="M0 0h10v10H0Z"/></svg> \(line.label) \
                \(HTML.muted(line.total))</li>
                """
            }
            "</ul>"
            Details("\(title) as a table") {
                Table(
                    "\(title) as a table",
                    [.head("Time (UTC)")]
                        + lines.map { .number(unit.isEmpty ? $0.label : "\($0.label) (\(unit))") },
                    period.rows(of: points)
                ) { row in
                    [.text(period.text(of: row.begin))]
                        + lines.map { .text($0.value(row.counts).map(PlotNumber.text) ?? "–") }
                }
            }
            "</figure>"
        }
    }

    private func description(isEmpty: Bool) -> String {
        guard !isEmpty else { return "\(period.words): nothing." }
        let parts = lines.map { "\($0.label) \($0.total)" }.joined(separator: ", ")
        return "\(period.words): \(parts). The table below has the numbers."
    }

    /// Returns the CSS class that gives a series its color.
    private static func look(_ index: Int) -> String { "s\(index % 5 + 1)" }

    private func drawing(of values: [[Double?]]) -> HTML {
        let heights =
            switch form {
            case .columns: points.indices.map { index in values.reduce(0) { $0 + ($1[index] ?? 0) } }
            case .area, .lines: values.joined().compactMap(\.self)
            }
        let scale = PlotScale(upTo: heights.max() ?? 0, isWhole: form != .lines)
        let frame = PlotFrame(count: points.count, top: scale.top)
        let across: HTML = "x1=\"\(PlotFrame.left)\" x2=\"\(PlotFrame.right)\""
        return HTML {
            for mark in scale.marks {
                let y = PlotNumber.coordinate(frame.y(mark))
                """
                <line class="rule" \(across) y1="\(y)" y2="\(y)"/>\
                <text x="\(PlotNumber.coordinate(Double(PlotFrame.left) - 6))" y="\(y)" dy="4" \
                text-anchor="end">\(PlotNumber.text(mark))</text>
                """
            }
            for (index, point) in points.enumerated() {
                if let label = period.label(at: point.begin) {
                    """
                    <text x="\(PlotNumber.coordinate(frame.x(index)))" y="\(PlotFrame.height - 6)" \
                    text-anchor="middle">\(label)</text>
                    """
                }
            }
            shapes(of: values, in: frame)
            "<line class=\"axis\" \(across) y1=\"\(PlotFrame.bottom)\" y2=\"\(PlotFrame.bottom)\"/>"
        }
    }

    private func shapes(of values: [[Double?]], in frame: PlotFrame) -> HTML {
        func paths(_ kind: String, _ paths: [String]) -> HTML {
            HTML(paths.enumerated().map { "<path class=\"\(kind) \(Self.look($0))\" d=\"\($1)\"/>\n" })
        }
        let lines = paths("line", values.map(frame.line))
        switch form {
        case .area: return paths("area", values.map(frame.area)) + lines
        case .lines: return lines
        case .columns:
            var floor = [Double](repeating: 0, count: points.count)
            let columns = values.map { line in
                let ceiling = zip(floor, line).map { $0 + ($1 ?? 0) }
                defer { floor = ceiling }
                return frame.columns(from: floor, to: ceiling)
            }
            return paths("bar", columns)
        }
    }
}

/// Places values inside a plot's axes, in SVG units.
struct PlotFrame {
    static let (width, height) = (560, 200)
    static let (left, right, top, bottom) = (46, 548, 12, 172)

    let count: Int
    /// The value at the top edge.
    let top: Double

    func x(_ index: Int) -> Double {
        guard count > 1 else { return Double(Self.left) }
        return Double(Self.left) + Double(Self.right - Self.left) * Double(index) / Double(count - 1)
    }

    func y(_ value: Double) -> Double {
        let part = top > 0 ? min(max(value / top, 0), 1) : 0
        return Double(Self.bottom) - Double(Self.bottom - Self.top) * part
    }

    private func place(_ index: Int, _ value: Double) -> String {
        "\(PlotNumber.coordinate(x(index))) \(PlotNumber.coordinate(y(value)))"
    }

    /// Returns a path through the values, with a gap for each missing value. A lone value is drawn as a short
    /// stroke.
    func line(_ values: [Double?]) -> String {
        values.indices.map { index in
            guard let value = values[index] else { return "" }
            let hasPrevious = index > 0 && values[index - 1] != nil
            let hasNext = index + 1 < values.count && values[index + 1] != nil
            return "\(hasPrevious ? "L" : "M")\(place(index, value))\(hasPrevious || hasNext ? "" : "h2")"
        }.joined()
    }

    /// Returns the area below the values. A missing value is treated as 0.
    func area(_ values: [Double?]) -> String {
        guard !values.isEmpty else { return "" }
        let upper = values.enumerated().map { "L\(place($0, $1 ?? 0))" }.joined()
        let end = PlotNumber.coordinate(x(values.count - 1))
        return "M\(Self.left) \(Self.bottom)\(upper)L\(end) \(Self.bottom)Z"
    }

    /// Returns a column for each value other than 0.
    func columns(from floor: [Double], to ceiling: [Double]) -> String {
        let step = Double(Self.right - Self.left) / Double(max(count, 1))
        let width = max(step * 0.72, 1)
        return zip(floor, ceiling).enumerated().map { index, pair in
            guard pair.1 > pair.0 else { return "" }
            let begin = Double(Self.left) + step * Double(index) + (step - width) / 2
            let (low, high) = (y(pair.0), y(pair.1))
            let side = PlotNumber.coordinate(low - high)
            return "M\(PlotNumber.coordinate(begin)) \(PlotNumber.coordinate(low))v-\(side)"
                + "h\(PlotNumber.coordinate(width))v\(side)Z"
        }.joined()
    }
}

/// A vertical axis from 0 to a round number, with at most five grid lines.
struct PlotScale: Equatable {
    /// Grid line values, ascending from 0.
    let marks: [Double]

    var top: Double { marks.last ?? 1 }

    /// - Parameters:
    ///   - largest: The largest value to show.
    ///   - isWhole: True for counts, which have no grid lines at fractions.
    init(upTo largest: Double, isWhole: Bool) {
        let largest = largest.isFinite && largest > 0 ? largest : 1
        // Chooses the smallest step that divides the axis into at most four parts. A step is 1, 2 or 5 times
        // a power of ten.
        var power = isWhole ? 1.0 : 1e-6
        var step = power
        search: while true {
            for factor in [1.0, 2, 5] {
                step = power * factor
                if largest / step <= 4 { break search }
            }
            power *= 10
        }
        let steps = max(1, Int((largest / step).rounded(.up)))
        marks = (0...steps).map { Double($0) * step }
    }
}

/// Number formats for plots, the same in every locale.
enum PlotNumber {
    /// Returns a coordinate with one decimal place.
    static func coordinate(_ value: Double) -> String { "\(rounded(value, 10))" }

    /// Returns a value with at most three significant digits below 1,000, and in thousands above 10,000.
    static func text(_ value: Double) -> String {
        switch abs(value) {
        case 1e9...: short(value / 1e9, 10) + " G"
        case 1e6...: short(value / 1e6, 10) + " M"
        case 1e4...: short(value / 1e3, 10) + " k"
        case 100...: short(value, 1)
        case 10...: short(value, 10)
        case 1...: short(value, 100)
        default: short(value, 1000)
        }
    }

    private static func short(_ value: Double, _ factor: Double) -> String {
        let text = "\(rounded(value, factor))"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Adds 0 to turn -0 into 0.
    private static func rounded(_ value: Double, _ factor: Double) -> Double {
        (value * factor).rounded() / factor + 0
    }
}
