import AppleAccounts
import AppleIdentity
import Inspection

/// Times as the pages about events show them.
enum EventTime {
    /// `2026-01-01T00:00:00.000Z, 3 minutes ago`
    static func text(_ moment: Moment, _ now: Moment) -> String {
        "\(moment.rfc3339), \(distance(of: moment, from: now))"
    }

    /// `2026-01-01 00:00:00`, for columns and for pages that stay open, where a distance would be wrong soon.
    static func short(_ moment: Moment) -> String { String(moment.shown.prefix(19)) }

    /// `3 minutes ago`
    static func distance(of moment: Moment, from now: Moment) -> String {
        NumericDate(clampingSecondsSince1970: moment.milliseconds / 1000)
            .distance(from: NumericDate(clampingSecondsSince1970: now.milliseconds / 1000))
    }
}
