/// Seconds since 1970-01-01T00:00:00Z, leap seconds ignored (RFC 7519 §2), between 1970 and the end of 9999.
///
/// The range is part of the type, so that no arithmetic on a time from a token can overflow: `exp + leeway` near the
/// ends of Int64 otherwise stops the process.
public struct NumericDate: Sendable, Hashable {
    public let secondsSince1970: Int64

    public static let validSeconds: ClosedRange<Int64> = 0...253_402_300_799

    /// Returns `nil` outside the range.
    public init?(secondsSince1970 seconds: Int64) {
        guard Self.validSeconds.contains(seconds) else { return nil }
        secondsSince1970 = seconds
    }

    /// The moment of a clock reading; readings outside the range become its nearest end.
    public init(clampingSecondsSince1970 seconds: Int64) {
        secondsSince1970 = min(max(seconds, Self.validSeconds.lowerBound), Self.validSeconds.upperBound)
    }
}

extension NumericDate: Comparable {
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.secondsSince1970 < rhs.secondsSince1970 }
}
