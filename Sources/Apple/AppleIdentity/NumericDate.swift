/// Seconds since 1970-01-01T00:00:00Z, leap seconds ignored (RFC 7519 §2), between 1970 and the end of 9999.
///
/// The range is part of the type, so that no arithmetic on a time from a token can overflow. Otherwise an
/// `exp` near the largest Int64 would end the process.
public struct NumericDate: Sendable, Hashable {
    public let secondsSince1970: Int64

    public static let validSeconds: ClosedRange<Int64> = 0...253_402_300_799

    /// Returns `nil` for a time outside the range.
    public init?(secondsSince1970 seconds: Int64) {
        guard Self.validSeconds.contains(seconds) else { return nil }
        secondsSince1970 = seconds
    }

    /// The time that a clock shows. A time outside the range becomes the nearest end of the range.
    public init(clampingSecondsSince1970 seconds: Int64) {
        secondsSince1970 = min(max(seconds, Self.validSeconds.lowerBound), Self.validSeconds.upperBound)
    }

    package var millisecondsSince1970: Int64 { secondsSince1970 * 1000 }
}

extension NumericDate: Comparable {
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.secondsSince1970 < rhs.secondsSince1970 }
}
