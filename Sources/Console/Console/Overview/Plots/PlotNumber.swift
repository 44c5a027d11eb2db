/// Texts of numbers in plots, the same in every locale.
enum PlotNumber {
    /// A coordinate with one decimal.
    static func coordinate(_ value: Double) -> String { decimal(value, digits: 1) }

    /// A value with at most three significant digits below 1,000, and in thousands above 10,000.
    static func text(_ value: Double) -> String {
        switch abs(value) {
        case 1e9...: trimmed(value / 1e9, digits: 1) + " G"
        case 1e6...: trimmed(value / 1e6, digits: 1) + " M"
        case 1e4...: trimmed(value / 1e3, digits: 1) + " k"
        case 100...: trimmed(value, digits: 0)
        case 10...: trimmed(value, digits: 1)
        case 1...: trimmed(value, digits: 2)
        default: trimmed(value, digits: 3)
        }
    }

    private static func trimmed(_ value: Double, digits: Int) -> String {
        var text = decimal(value, digits: digits)
        guard text.contains(".") else { return text }
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    private static func decimal(_ value: Double, digits: Int) -> String {
        let factor = [1, 10, 100, 1000][digits]
        guard let scaled = Int64(exactly: (abs(value) * Double(factor)).rounded()) else { return "0" }
        let sign = value < 0 && scaled != 0 ? "-" : ""
        guard digits > 0 else { return sign + String(scaled) }
        let fraction = String(scaled % Int64(factor))
        return sign + "\(scaled / Int64(factor))."
            + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
