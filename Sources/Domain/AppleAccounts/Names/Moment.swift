import Encodings

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z, from 1970 to the end of the year 9999.
///
/// Apple sends seconds in tokens and milliseconds in notifications; this type stores both as milliseconds.
public struct Moment: Hashable, Sendable {
    public let milliseconds: Int64

    /// The last moment with a four-digit year, 9999-12-31T23:59:59.999Z.
    public static let last = Moment(milliseconds: 253_402_300_799_999)

    /// Creates a moment. A value outside the range becomes the nearest
    /// bound, so that no input can make later arithmetic overflow.
    public init(milliseconds: Int64) {
        self.milliseconds = min(max(milliseconds, 0), 253_402_300_799_999)
    }

    /// Creates a moment. A value outside the range becomes the nearest bound.
    public init(seconds: Int64) {
        self.init(milliseconds: min(max(seconds, 0), 253_402_300_799) * 1000)
    }

    /// Returns the moment `delta` milliseconds later, or the nearest bound of the range.
    public func advanced(byMilliseconds delta: Int64) -> Moment {
        let (sum, isOverflow) = milliseconds.addingReportingOverflow(delta)
        guard isOverflow else { return Moment(milliseconds: sum) }
        return delta < 0 ? Moment(milliseconds: 0) : .last
    }
}

extension Moment: Comparable {
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.milliseconds < rhs.milliseconds }
}

extension Moment {
    /// The start of the day in UTC.
    public var startOfDay: Moment {
        let day: Int64 = 86_400_000
        return Moment(milliseconds: milliseconds / day * day)
    }
}

extension Moment {
    /// The moment in RFC 3339 §5.6 format, in UTC, always with three decimals: "2026-11-21T00:50:54.000Z".
    public var rfc3339: String { RFC3339.text(milliseconds: milliseconds) }

    /// Parses RFC 3339 §5.6 with any offset. Decimals after the third are dropped.
    ///
    /// Returns `nil` for a leap second, an invalid date, a moment outside the range, or any other format,
    /// including ISO 8601 formats that RFC 3339 does not allow.
    public init?(rfc3339 text: String) {
        guard let milliseconds = RFC3339.milliseconds(of: text) else { return nil }
        self.init(milliseconds: milliseconds)
    }
}
