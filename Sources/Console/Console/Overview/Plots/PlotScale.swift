/// A vertical axis from 0 to a round number, with at most five grid lines.
struct PlotScale: Equatable {
    /// Values of the grid lines, ascending from 0.
    let marks: [Double]

    var top: Double { marks.last ?? 1 }

    /// - Parameters:
    ///   - largest: The largest value that is shown.
    ///   - isWhole: True for numbers of things, which have no grid lines at fractions.
    init(upTo largest: Double, isWhole: Bool) {
        let largest = largest.isFinite && largest > 0 ? largest : 1
        // The smallest of 1, 2 and 5 times a power of ten that needs no more than four steps.
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
