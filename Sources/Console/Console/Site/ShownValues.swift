import AppleAccounts
import AppleIdentity
import Inspection
import Pages

/// Formats times for the pages about events.
enum EventTime {
    /// Returns text such as `2026-01-01T00:00:00.000Z, 3 minutes ago`.
    static func text(_ moment: Moment, _ now: Moment) -> String {
        "\(moment.rfc3339), \(distance(of: moment, from: now))"
    }

    /// Returns the time as `2026-01-01 00:00:00`, for table columns and for pages that stay open, where an
    /// age would soon be wrong.
    static func short(_ moment: Moment) -> String { String(moment.shown.prefix(19)) }

    /// `3 minutes ago`
    static func distance(of moment: Moment, from now: Moment) -> String {
        NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000)
            .distance(from: NumericDate(clampingSecondsSince1970: now.milliseconds / 1000))
    }
}

/// The time between two points in time, in words, with at most two units.
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
    /// The time as pages show it: in UTC, and without decimals if they are zero.
    var shown: String {
        let text = rfc3339
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(milliseconds % 1000 == 0 ? 8 : 12))"
    }
}

/// Shortens an ID in a table to its prefix and its end. Account IDs begin with a time, so the IDs in
/// neighbouring rows have similar beginnings.
enum ShortID {
    /// Maximum length in characters of an ID that is shown in full.
    static let whole = 20

    static func text(_ id: String) -> String {
        guard id.count > whole else { return id }
        let kind = id.firstIndex { "_.".contains($0) }.map { id[...$0] } ?? id.prefix(4)
        return "\(kind.prefix(10))…\(id.suffix(8))"
    }
}

extension HTML {
    /// Returns a link to an account's page, as tables show it.
    static func shortLink(to account: AccountID) -> HTML {
        let id = account.rawValue
        return "<a href=\"/console/people/\(id)\" title=\"\(id)\"><code>\(ShortID.text(id))</code></a>"
    }
}
