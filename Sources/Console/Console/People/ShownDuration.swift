import AppleAccounts

/// The time between two moments, in words of at most two units.
struct ShownDuration: CustomStringConvertible {
    let milliseconds: Int64

    init(milliseconds: Int64) { self.milliseconds = abs(milliseconds) }

    init(from first: Moment, to second: Moment) {
        self.init(milliseconds: second.milliseconds - first.milliseconds)
    }

    var description: String {
        let seconds = milliseconds / 1000
        if milliseconds < 10_000, milliseconds % 1000 != 0 {
            return "\(seconds).\(milliseconds % 1000 / 100) s"
        }
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3600 { return Self.text(seconds, 60, "min", "s") }
        if seconds < 86_400 { return Self.text(seconds / 60, 60, "h", "min") }
        return Self.text(seconds / 3600, 24, "d", "h")
    }

    private static func text(_ count: Int64, _ size: Int64, _ large: String, _ small: String) -> String {
        count % size == 0 ? "\(count / size) \(large)" : "\(count / size) \(large) \(count % size) \(small)"
    }
}

extension Moment {
    /// The moment as pages show it: in UTC, without the decimals if there are none.
    var shown: String {
        let text = rfc3339
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(milliseconds % 1000 == 0 ? 8 : 12))"
    }
}
