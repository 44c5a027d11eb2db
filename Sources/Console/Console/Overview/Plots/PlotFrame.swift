/// Places values within the lines of a plot, in the units of its SVG.
struct PlotFrame {
    static let (width, height) = (560, 200)
    static let (left, right, top, bottom) = (46, 548, 12, 172)

    let count: Int
    /// The value at the upper edge.
    let top: Double

    func x(_ index: Int) -> Double {
        guard count > 1 else { return Double(Self.left) }
        return Double(Self.left) + Double(Self.right - Self.left) * Double(index) / Double(count - 1)
    }

    func y(_ value: Double) -> Double {
        let part = top > 0 ? min(max(value / top, 0), 1) : 0
        return Double(Self.bottom) - Double(Self.bottom - Self.top) * part
    }

    /// A path through the values. It begins anew after a missing value; a lone value is a short stroke.
    func line(_ values: [Double?]) -> String {
        var path: [String] = []
        for (index, value) in values.enumerated() {
            guard let value else { continue }
            let place = "\(PlotNumber.coordinate(x(index))) \(PlotNumber.coordinate(y(value)))"
            let hasPrevious = index > 0 && values[index - 1] != nil
            path.append("\(hasPrevious ? "L" : "M")\(place)")
            let hasNext = index + 1 < values.count && values[index + 1] != nil
            if !hasPrevious && !hasNext { path.append("h2") }
        }
        return path.joined()
    }

    /// The area below the values, where a missing value is 0.
    func area(_ values: [Double?]) -> String {
        guard !values.isEmpty else { return "" }
        let upper = values.enumerated().map { index, value in
            "L\(PlotNumber.coordinate(x(index))) \(PlotNumber.coordinate(y(value ?? 0)))"
        }.joined()
        return
            "M\(Self.left) \(Self.bottom)\(upper)L\(PlotNumber.coordinate(x(values.count - 1))) \(Self.bottom)Z"
    }

    /// A column for each value that is not 0.
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
